// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "examples/support/child_process.h"

namespace examples {

/// A ZooKeeper server for the occasion, from third_party/curator_test_server, on a free port of this machine. Ends with
/// this object, with the program, and on Ctrl-C.
///
/// The launcher is the one of this build, unless the environment variable ZKRECIPES_TEST_SERVER_LAUNCHER names another.
class EmbeddedServer {
 public:
  /// Serving on return. Throws std::runtime_error that says what to install.
  EmbeddedServer();

  const std::string& address() const noexcept { return address_; }  ///< "host:port"

  /// Dies, resetting its clients, and comes back with the same data on the same port. Serving on return.
  void crash_and_restart();
  long packets_received();  ///< since its last start

 private:
  std::string ask(const std::string& command);

  ChildProcess process_;
  std::string id_;
  std::string address_;
};

}  // namespace examples
