// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "connection/session.h"
#include "zkrecipes/connection.h"

namespace zkrecipes::detail {

/// One part in so many of the session timeout is for clocks that run at different speeds.
constexpr int kDriftShare = 20;

/// Turns what the C client says, and what it fails to say in time, into connection states. Does no I/O and reads no
/// clock. Not thread-safe: its owner guards it.
///
/// The session is over when the server says so or when one of its leases has run out, whichever is noticed first: after
/// that the server may have given our locks away, so waiting for the C client to find out would be too late. A session
/// with holds ends with the lease that they rely on, one without with its contact (see Session).
class SessionMonitor {
 public:
  /// `margin`: kept back from the negotiated timeout; a quarter of it when not given. Never less than the share for
  /// clocks, nor more than half.
  explicit SessionMonitor(std::optional<std::chrono::milliseconds> margin);

  /// `sent`: when the request for this connection was sent, so that a new session is counted from there.
  void connected(std::int64_t session_id, std::chrono::milliseconds timeout, Lease::Time sent, Lease::Time now);
  void disconnected();
  void expired();
  void closed();
  /// Whether there are holds, which rely on the session's lease.
  void set_relied_on(bool relied_on) { relied_on_ = relied_on; }
  bool relied_on() const { return relied_on_; }
  /// Notices a lease that has run out.
  void tick(Lease::Time now);

  ConnectionState state() const { return state_; }
  const SessionPtr& session() const { return session_; }  ///< null when there is none

  /// When tick() is due next; none without a session.
  std::optional<Lease::Time> deadline() const;

  /// The states entered since the last call, in order.
  std::vector<ConnectionState> take_changes();
  bool has_ended() const { return !ended_.empty(); }
  /// The sessions that ended since the last call; the caller announces their end with no mutex held.
  std::vector<SessionPtr> take_ended();

  // The same one by one, for an owner that must not lose what it could not carry out because something was thrown.
  const std::vector<ConnectionState>& changes() const { return changes_; }
  void drop_change() noexcept { changes_.erase(changes_.begin()); }
  const std::vector<SessionPtr>& ended() const { return ended_; }
  void drop_ended() noexcept { ended_.erase(ended_.begin()); }

 private:
  void enter(ConnectionState state);
  void lose_session();

  const std::optional<std::chrono::milliseconds> margin_;
  ConnectionState state_ = ConnectionState::connecting;
  SessionPtr session_;
  bool relied_on_ = false;
  std::vector<ConnectionState> changes_;
  std::vector<SessionPtr> ended_;
};

}  // namespace zkrecipes::detail
