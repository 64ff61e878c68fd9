// SPDX-License-Identifier: Apache-2.0
#include "examples/support/embedded_server.h"

#include <sstream>
#include <stdexcept>

namespace examples {

EmbeddedServer::EmbeddedServer() try {
  std::istringstream words(process_.command("start"));
  words >> id_ >> address_;
} catch (const std::exception& error) {
  throw std::runtime_error("the ZooKeeper server for this example does not start: " + std::string(error.what()) +
                           "\nIt is " + testkit::test_server_launcher() +
                           " and needs Java (apt install openjdk-17-jre-headless libcurator-test-java).\n"
                           "Or use a server that runs already: --servers HOST:PORT");
}

void EmbeddedServer::crash_and_restart() {
  process_.command("kill " + id_);
  process_.command("restart " + id_);
}

long EmbeddedServer::packets_received() {
  std::istringstream words(process_.command("info " + id_));
  const std::string name = "packets-received=";
  for (std::string word; words >> word;)
    if (word.rfind(name, 0) == 0) return std::stol(word.substr(name.size()));
  throw std::runtime_error("the ZooKeeper server does not count packets");
}

}  // namespace examples
