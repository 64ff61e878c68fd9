// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "connection/session.h"
#include "zkrecipes/connection.h"

namespace zkrecipes::connection {

/// Turns what the C client says, and what it fails to say in time, into connection states. Does no I/O and reads no
/// clock. Not thread-safe: its owner guards it.
///
/// The session is over when the server says so or when its lease has run out, whichever is noticed first: after the
/// lease the server may have given our locks away, so waiting for the C client to find out would be too late.
class SessionMonitor {
 public:
  /// `margin`: kept back from the negotiated timeout; a quarter of it when not given.
  explicit SessionMonitor(std::optional<std::chrono::milliseconds> margin);

  void connected(std::int64_t session_id, std::chrono::milliseconds timeout, Clock::time_point now);
  void disconnected();
  void expired();
  void closed();
  /// Notices a lease that has run out.
  void tick(Clock::time_point now);

  ConnectionState state() const { return state_; }
  const SessionPtr& session() const { return session_; }  ///< null when there is none

  /// When tick() is due next; none without a session.
  std::optional<Clock::time_point> deadline() const;

  /// The states entered since the last call, in order.
  std::vector<ConnectionState> take_changes();
  bool has_ended() const { return !ended_.empty(); }
  /// The sessions that ended since the last call; the caller announces their end with no mutex held.
  std::vector<SessionPtr> take_ended();

 private:
  void enter(ConnectionState state);
  void lose_session();

  const std::optional<std::chrono::milliseconds> margin_;
  ConnectionState state_ = ConnectionState::connecting;
  SessionPtr session_;
  std::vector<ConnectionState> changes_;
  std::vector<SessionPtr> ended_;
};

}  // namespace zkrecipes::connection
