// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace examples {

/// A line to the first of some servers that can be cut: what a pulled cable does to a program, without the cable.
class Relay {
 public:
  explicit Relay(const std::string& servers);
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  /// To connect to instead of the servers.
  const std::string& address() const noexcept { return address_; }

  void cut() noexcept { is_cut_ = true; }  ///< ends all connections and refuses new ones
  void mend() noexcept { is_cut_ = false; }

 private:
  void run();
  void accept();

  // constant after construction
  std::string host_;
  std::string port_;
  std::string address_;
  int listener_ = -1;

  std::atomic<bool> is_cut_{false};
  std::atomic<bool> ending_{false};
  std::vector<std::pair<int, int>> lines_;  // client and server side; the thread's own
  std::thread thread_;
};

}  // namespace examples
