// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "bench/comparison/servers/server_process.h"

namespace comparison {

/// A PostgreSQL server with the tables of both locks. Runs as the user postgres when we are root, for it refuses to be.
class PostgresServer {
 public:
  PostgresServer();

  static std::string program();  ///< where it is; throws std::runtime_error that says what to install
  const std::string& endpoint() const noexcept { return process_.endpoint(); }
  /// Kills the server at once; it serves again after recovery from its log.
  void crash_and_restart() { process_.restart(); }

 private:
  void initialise();

  ServerProcess process_;
};

}  // namespace comparison
