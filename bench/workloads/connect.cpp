// SPDX-License-Identifier: Apache-2.0
#include "bench/workloads/connect.h"

#include <stdexcept>
#include <utility>
#include <zkrecipes/fair_mutex.h>

namespace bench {

std::unique_ptr<zkrecipes::Connection> connect(const std::string& server,
                                               std::shared_ptr<zkrecipes::Observer> observer) {
  zkrecipes::ConnectionOptions options;
  options.servers = server;
  options.session_timeout = std::chrono::seconds(30);
  options.observer = std::move(observer);
  auto connection = std::make_unique<zkrecipes::Connection>(options);
  if (!connection->wait_until_connected(std::chrono::seconds(30)))
    throw std::runtime_error("no ZooKeeper answers at " + server);
  return connection;
}

std::vector<std::unique_ptr<zkrecipes::Connection>> connect(const std::string& server, int count) {
  std::vector<std::unique_ptr<zkrecipes::Connection>> connections;
  connections.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) connections.push_back(connect(server));
  return connections;
}

void await_replies(zkrecipes::Connection& connection, const std::string& root) {
  // Replies come in the order of the requests, so those to this lock come last. Twice, because a reply can make the
  // library send one more request.
  zkrecipes::FairMutex last(connection, root + "/last");
  for (int i = 0; i < 2; ++i) last.acquire().release();
}

}  // namespace bench
