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
  process_.write("start\n");
  const auto answer = process_.read_line(std::chrono::seconds(60));
  std::istringstream words(answer.value_or(""));
  std::string verdict, id;
  if (!(words >> verdict >> id >> address_) || verdict != "ok")
    throw std::runtime_error(answer ? *answer : "it ended at once");
} catch (const std::exception& error) {
  throw std::runtime_error("the ZooKeeper server for this example does not start: " + std::string(error.what()) +
                           "\nIt is " + launcher() +
                           " and needs Java (apt install openjdk-17-jre-headless libcurator-test-java).\n"
                           "Or use a server that runs already: --servers HOST:PORT");
}

}  // namespace examples
