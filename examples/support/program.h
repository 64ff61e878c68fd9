// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <zkrecipes/connection.h>

#include "examples/support/embedded_server.h"
#include "examples/support/options.h"

namespace examples {

/// Shared by all examples: options, a server, connections that Ctrl-C closes, and errors that say what to do.
class Program {
 public:
  Program(std::string name, std::string purpose);

  /// For options beside --help, --servers and --timeout.
  Options& options() noexcept { return options_; }

  /// Runs `body` and returns the exit status for main(): 0, or 1 after a failure, or 2 after a wrong command line.
  int run(int argc, const char* const* argv, const std::function<void()>& body);

  /// From --servers; empty without it.
  const std::string& given_servers() const noexcept { return given_servers_; }

  /// From --servers, else those of an embedded server, which is started when first asked for. Thread-safe.
  const std::string& servers();

  /// Connected on return. `identity` is stored in the lock nodes, for people. `options.servers` may be empty.
  /// @throws std::runtime_error if no server answers within --timeout
  std::shared_ptr<zkrecipes::Connection> connect(const std::string& identity,
                                                 zkrecipes::ConnectionOptions options = {});
  void await(zkrecipes::Connection& connection);

 private:
  Options options_;
  std::string given_servers_;
  int timeout_seconds_ = 10;

  std::mutex mutex_;
  // guarded by mutex_
  std::string servers_;
  std::unique_ptr<EmbeddedServer> embedded_;
};

}  // namespace examples
