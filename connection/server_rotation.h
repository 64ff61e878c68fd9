// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "connection/backoff.h"
#include "connection/world.h"

namespace zkrecipes::detail {

/// Which server to try next, for how long, and how long to pause before. Does no I/O and reads no clock; `world` is
/// asked for random numbers. Not thread-safe: its owner guards it.
///
/// Servers are tried in a random order that then stays. None is tried twice in a row while there is another, and
/// nothing pauses before each of them has been tried: when the server of a session falls silent, what is left of the
/// session's lease is all the time there is.
class ServerRotation {
 public:
  ServerRotation(const RetryPolicy& policy, World& world);

  /// The addresses of another list of servers: failures of the earlier ones are forgotten.
  void restart(const std::vector<std::string>& addresses);
  /// The addresses there are now. Known ones keep their order, new ones are tried first.
  void replace(const std::vector<std::string>& addresses);
  /// More addresses; the known ones stay.
  void add(const std::vector<std::string>& addresses);

  bool empty() const { return addresses_.empty(); }
  std::size_t size() const { return addresses_.size(); }
  bool contains(const std::string& address) const;
  bool has_other_than(const std::string& address) const;

  /// The next address; there must be one.
  const std::string& next();

  /// The last address has accepted us and answers.
  void accepted();
  /// The last address has not. Returns how long to pause before the next one: not at all until all have failed, then
  /// as the RetryPolicy says. `at_most`: a session is waiting for it.
  std::chrono::milliseconds failed(std::chrono::milliseconds at_most);
  /// Whether each of them has failed since the last one accepted us.
  bool has_tried_all() const { return !addresses_.empty() && failures_ >= addresses_.size(); }
  /// As failed(), for the whole ensemble: pause before making a new session, so that a fleet does not come back in
  /// step.
  std::chrono::milliseconds session_lost();

  /// How long to wait for the next server to accept us: short at first, so that a second silent server does not cost
  /// the session, longer with every round without success.
  std::chrono::milliseconds patience(std::chrono::milliseconds session_timeout) const;

 private:
  World& world_;
  Backoff backoff_;
  std::vector<std::string> addresses_;
  std::string current_;
  std::size_t next_ = 0;
  std::size_t failures_ = 0;  // since the last success
};

}  // namespace zkrecipes::detail
