// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "bench/comparison/servers/server_process.h"

namespace comparison {

/// A Redis server that keeps its data in memory only. `replica_of`: "host:port" of its primary, or empty.
class RedisServer {
 public:
  explicit RedisServer(const std::string& replica_of = {});

  static std::string program();  ///< where it is; throws std::runtime_error that says what to install
  const std::string& endpoint() const noexcept { return process_.endpoint(); }
  void crash() { process_.crash(); }
  void restart() { process_.restart(); }

  void await_link_to_primary(bool up) const;  ///< throws std::runtime_error when it takes too long
  void promote() const;                       ///< REPLICAOF NO ONE

 private:
  ServerProcess process_;
};

}  // namespace comparison
