// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

namespace testkit {
class TcpRelay;
}

namespace examples {

/// A line to the first of some servers that can be cut: what a pulled cable does to a program, without the cable.
/// Thread-safe.
class Relay {
 public:
  /// `servers`: as a connection takes them, HOST:PORT,HOST:PORT/CHROOT.
  explicit Relay(const std::string& servers);
  ~Relay();

  /// To connect to instead of the servers, with their chroot.
  const std::string& address() const noexcept { return address_; }

  void cut();   ///< ends all connections and refuses new ones
  void mend();  ///< accepts connections again

 private:
  // constant after construction
  const std::unique_ptr<testkit::TcpRelay> relay_;
  const std::string address_;
};

}  // namespace examples
