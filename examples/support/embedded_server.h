// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "testkit/test_server_process.h"

namespace examples {

/// A ZooKeeper server for the occasion, from third_party/curator_test_server, on a free port of this machine. Ends with
/// this object, with the program, and on Ctrl-C.
class EmbeddedServer {
 public:
  /// Serving on return. Throws std::runtime_error that says what to install.
  EmbeddedServer();

  const std::string& address() const noexcept { return address_; }  ///< "host:port"

  /// Kills the server, which resets its connections, and restarts it with the same data on the same port. Serving on
  /// return.
  void crash_and_restart();
  long packets_received();  ///< since its last start

 private:
  testkit::TestServerProcess process_;
  std::string id_;
  std::string address_;
};

}  // namespace examples
