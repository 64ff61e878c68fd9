// SPDX-License-Identifier: Apache-2.0
// A client in a process of its own, for tests that stop it with SIGSTOP (connection_process_test.cpp). It creates a
// node, says "ready", and watches its own clock: when that jumps it has been stopped, and the very first thing it does
// then is to ask its lease. It ends when its standard input does.
#include <iostream>
#include <poll.h>
#include <unistd.h>

#include "tests/support/sync_client.h"

int main(int argc, char** argv) {
  using namespace std::chrono_literals;
  using zkrecipes::detail::LeaseClock;
  if (argc != 3) {
    std::cerr << "usage: pausable_client SERVERS SESSION_TIMEOUT_MS\n";
    return 2;
  }
  zkrecipes::ConnectionOptions options;
  options.servers = argv[1];
  options.session_timeout = std::chrono::milliseconds(std::stol(argv[2]));
  zkrecipes::Connection connection(options);
  const zkrecipes::testing::SyncClient client(connection);
  const auto session = client.session();
  const auto node = client.create(zkrecipes::testing::queue_node("/lock"));
  client.client().probe(session, node.path, zkrecipes::detail::NodeRole::holds, 0, [] {});

  auto last = LeaseClock::now();
  std::cout << "ready" << std::endl;
  for (;;) {
    const auto now = LeaseClock::now();
    const bool valid = session->lease().is_valid(now);
    if (now - last > options.session_timeout / 2)
      std::cout << "woke valid=" << valid
                << " connected=" << (connection.state() == zkrecipes::ConnectionState::connected) << std::endl;
    last = now;
    pollfd input{STDIN_FILENO, POLLIN, 0};
    if (poll(&input, 1, 1) != 0) return 0;
  }
}
