// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/model/server_watches.h"

#include <algorithm>
#include <utility>

namespace zkrecipes::simulation {

void ServerWatches::add(std::string_view path, ConnectionId connection) {
  auto found = entries_.find(path);
  if (found == entries_.end()) {
    auto entry = std::make_unique<Entry>();
    entry->path = path;
    const std::string_view key = entry->path;
    found = entries_.emplace(key, std::move(entry)).first;
  }
  std::vector<ConnectionId>& connections = found->second->connections;
  if (std::find(connections.begin(), connections.end(), connection) != connections.end()) return;
  connections.push_back(connection);
  ++size_;
}

bool ServerWatches::remove(std::string_view path, ConnectionId connection) {
  const auto found = entries_.find(path);
  if (found == entries_.end()) return false;
  std::vector<ConnectionId>& connections = found->second->connections;
  const auto place = std::find(connections.begin(), connections.end(), connection);
  if (place == connections.end()) return false;
  connections.erase(place);
  --size_;
  if (connections.empty()) {
    const std::unique_ptr<Entry> entry = std::move(found->second);  // has the key
    entries_.erase(found);
  }
  return true;
}

std::vector<ConnectionId> ServerWatches::fire(std::string_view path) {
  const auto found = entries_.find(path);
  if (found == entries_.end()) return {};
  const std::unique_ptr<Entry> entry = std::move(found->second);  // has the key
  entries_.erase(found);
  size_ -= entry->connections.size();
  return std::move(entry->connections);
}

void ServerWatches::drop(ConnectionId connection) {
  for (auto at = entries_.begin(); at != entries_.end();) {
    std::vector<ConnectionId>& connections = at->second->connections;
    const auto place = std::find(connections.begin(), connections.end(), connection);
    if (place != connections.end()) {
      connections.erase(place);
      --size_;
    }
    if (connections.empty()) {
      const std::unique_ptr<Entry> entry = std::move(at->second);
      at = entries_.erase(at);
    } else {
      ++at;
    }
  }
}

void ServerWatches::clear() {
  entries_.clear();
  size_ = 0;
}

}  // namespace zkrecipes::simulation
