// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>

#include "connection/lease_clock.h"

namespace zkrecipes::detail {

/// What the leader must know of a session's activity. Pure bookkeeping for one connection; its owner guards it.
///
/// The leader alone expires sessions. A follower reports activity only when it answers the leader's ping, every half
/// tick; a request that it forwards does not count. So the answer to a write proves that a quorum has committed it, but
/// not that the leader has heard of the session since: the network may have held requests or pings back, and may lose
/// the reports that follow. What is certain, with messages in order on each link:
/// - An earlier request P that the leader has answered, and whose answer we had before the write was sent, shows that
/// the
///   follower had read all pings up to half a tick before P was sent, at least.
/// - The write came to the leader behind the follower's answers to those pings.
/// - Those answers report every request R that was answered more than half a tick before P was sent.
/// So the leader counts the session from a moment that is not before R was sent.
class TouchHistory {
 public:
  using Time = LeaseClock::time_point;

  /// A connection was made, which the leader counts as activity. `sent`: when we asked for it.
  void connected(Time sent);
  /// A request was answered. `by_leader`: not by the server alone that we are connected to.
  void answered(Time sent, Time now, bool by_leader, LeaseClock::duration timeout);
  /// When the newest request that was answered on this connection was sent; else what connected() was given.
  Time newest() const { return all_.empty() ? connected_ : all_.back().sent; }
  /// From when on, at least, the leader counts the session if a write that was sent then was committed.
  Time known_to_leader(Time write_sent, LeaseClock::duration timeout) const;

 private:
  struct Entry {
    Time began;  // of the answers that are taken together
    Time answered;
    Time sent;
  };
  using Entries = std::deque<Entry>;
  static void add(Entries& entries, Time sent, Time now, LeaseClock::duration timeout);
  static const Entry* newest_answered_by(const Entries& entries, Time time);

  Time connected_{};
  Entries all_;
  Entries by_leader_;
};

}  // namespace zkrecipes::detail
