// SPDX-License-Identifier: Apache-2.0
// Holds a lock, says "holds", reads a line, and ends in the way that its last argument says (shutdown_test.cpp).
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <unistd.h>

#include "zkrecipes/zkrecipes.h"

namespace {

struct Holder {
  Holder(const zkrecipes::ConnectionOptions& options, const std::string& path)
      : connection(options), mutex(connection, path), hold(mutex.acquire()) {}

  zkrecipes::Connection connection;
  zkrecipes::FairMutex mutex;
  zkrecipes::Hold hold;
};

std::unique_ptr<Holder> with_static_storage;

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: ending_client SERVERS PATH SESSION_TIMEOUT_MS exit|exit_static|exec\n";
    return 2;
  }
  zkrecipes::ConnectionOptions options;
  options.servers = argv[1];
  options.session_timeout = std::chrono::milliseconds(std::stol(argv[3]));
  const std::string end = argv[4];
  auto on_stack = std::make_unique<Holder>(options, argv[2]);
  if (end == "exit_static") with_static_storage = std::move(on_stack);
  std::cout << "holds" << std::endl;
  std::string line;
  std::getline(std::cin, line);
  // Says that it has begun, and runs until its input ends.
  if (end == "exec") execlp("sh", "sh", "-c", "echo another program; read line", nullptr);
  std::exit(0);
}
