// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tests/simulation/model/transaction.h"

namespace zkrecipes::simulation {

/// One kind of watches at one server: which connections are to be told once of what happens to a path.
class ServerWatches {
 public:
  void add(std::string_view path, ConnectionId connection);
  /// False if there was none.
  bool remove(std::string_view path, ConnectionId connection);
  /// Those to be told, whose watches are gone now.
  std::vector<ConnectionId> fire(std::string_view path);
  /// Of a connection that is closed.
  void drop(ConnectionId connection);
  void clear();
  std::size_t size() const { return size_; }

 private:
  struct Entry {
    std::string path;
    std::vector<ConnectionId> connections;
  };
  std::unordered_map<std::string_view, std::unique_ptr<Entry>> entries_;  // the keys are the entries' own paths
  std::size_t size_ = 0;
};

}  // namespace zkrecipes::simulation
