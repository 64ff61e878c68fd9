// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace zklock {

/// What one server answers to the four-letter word "srvr".
struct ServerStatus {
  std::string address;
  bool answers = false;
  std::string trouble;  ///< why it does not answer, or not what was asked
  std::string mode;     ///< leader, follower, observer or standalone
  std::string version;
  std::string connections;
  std::string nodes;
};

/// "zk1:2181, zk2/chroot" -> {"zk1:2181", "zk2:2181"}.
std::vector<std::string> server_addresses(const std::string& servers);

/// Asks one server, over a connection of its own, in about this time at most, name resolution not counted.
ServerStatus ask_server(const std::string& address, std::chrono::milliseconds limit);

}  // namespace zklock
