// SPDX-License-Identifier: Apache-2.0
#include "examples/support/embedded_server.h"

#include <cstdlib>
#include <sstream>
#include <stdexcept>

namespace examples {
namespace {

std::string launcher() {
  const char* chosen = std::getenv("ZKRECIPES_TEST_SERVER_LAUNCHER");
  return chosen != nullptr && *chosen != '\0' ? chosen : ZKRECIPES_TEST_SERVER_LAUNCHER;
}

}  // namespace

EmbeddedServer::EmbeddedServer() try : process_({launcher()}) {
  std::istringstream words(ask("start"));
  words >> id_ >> address_;
} catch (const std::exception& error) {
  throw std::runtime_error("the ZooKeeper server for this example does not start: " + std::string(error.what()) +
                           "\nIt is " + launcher() +
                           " and needs Java (apt install openjdk-17-jre-headless libcurator-test-java).\n"
                           "Or use a server that runs already: --servers HOST:PORT");
}

void EmbeddedServer::crash_and_restart() {
  ask("kill " + id_);
  ask("restart " + id_);
}

long EmbeddedServer::packets_received() {
  std::istringstream words(ask("info " + id_));
  const std::string name = "packets-received=";
  for (std::string word; words >> word;)
    if (word.rfind(name, 0) == 0) return std::stol(word.substr(name.size()));
  throw std::runtime_error("the ZooKeeper server does not count packets");
}

std::string EmbeddedServer::ask(const std::string& command) {
  process_.write(command + "\n");
  const auto answer = process_.read_line(std::chrono::seconds(60));
  if (!answer) throw std::runtime_error("it ended at once");
  if (answer->rfind("ok", 0) != 0) throw std::runtime_error(*answer);
  return answer->substr(2);
}

}  // namespace examples
