// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <zkrecipes/connection.h>

#include "tools/zklock/descriptor.h"
#include "tools/zklock/signals.h"

namespace zklock {

/// A signal that ends zklock was received while it waited.
struct Interrupted {
  int signal;
};

/// A connection, and waiting for it in a way that signals end.
class Session {
 public:
  /// Throws Failure(kUsage) if the options cannot be used. Returns at once.
  explicit Session(zkrecipes::ConnectionOptions options);

  zkrecipes::Connection& connection() { return connection_; }
  const Wakeup& wakeup() const { return wakeup_; }

  /// Throws Failure(kUnreachable) if that takes longer than the session timeout or lasts until the deadline,
  /// NotAuthorized if the servers refuse the credentials, Interrupted.
  void connect(const Signals& signals, Clock::time_point deadline = Clock::time_point::max());
  /// The same without signals, for commands that leave nothing behind when they are killed.
  void connect();

  /// How long a single question to the servers may take.
  Clock::time_point patience() const { return Clock::now() + timeout_; }

 private:
  const std::string servers_;
  const std::chrono::milliseconds timeout_;
  const Wakeup wakeup_;
  zkrecipes::Connection connection_;
  zkrecipes::Subscription states_;
};

}  // namespace zklock
