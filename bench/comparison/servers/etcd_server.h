// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "bench/comparison/servers/server_process.h"

namespace comparison {

/// An etcd cluster of one.
class EtcdServer {
 public:
  EtcdServer();

  static std::string program();  ///< where it is; throws std::runtime_error that says what to install
  const std::string& endpoint() const noexcept { return process_.endpoint(); }
  void crash_and_restart() { process_.restart(); }

 private:
  ServerProcess process_;
};

}  // namespace comparison
