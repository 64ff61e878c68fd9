// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "connection/lease_clock.h"
#include "connection/requests.h"

namespace zkrecipes::detail {

/// Which of our nodes the heartbeats ask after, and how often. Pure bookkeeping; its owner guards it.
///
/// A heartbeat has two jobs. Reads keep the session alive at the server that we are connected to, and notice nodes that
/// somebody else has deleted. A connection with holds also sends one request that a quorum must commit, which renews
/// the lease of all its holds: a refused_write() to one of the held nodes. The held nodes take turns.
class HeartbeatPlan {
 public:
  using Id = std::uint64_t;

  /// Often enough for the lease to be true. A follower reports to the leader which sessions are alive only when it
  /// answers the leader's ping, every half tick, and the leader expires a session one timeout after the last activity
  /// that was reported. So the margin of a lease, a quarter of the timeout, must cover the pause between two requests
  /// or half a tick, whichever is longer. (The C client's own pings prove nothing to us: their answers are not shown.)
  static LeaseClock::duration interval(std::chrono::milliseconds session_timeout) { return session_timeout / 10; }

  /// `czxid`: of the node that is meant, or 0 where the path is unique.
  Id add(const std::string& path, NodeRole role, std::int64_t czxid, std::function<void()> gone);
  void remove(Id id);
  /// The callback of a node that is gone, which is forgotten; empty when it was removed in the meantime.
  std::function<void()> take(Id id);
  /// False when another node stands in the place of the one that is meant.
  bool is_same(Id id, std::int64_t czxid) const;
  /// The session is over, and with it its nodes.
  void clear();

  struct Target {
    Id id = 0;
    std::string path;
    bool unique_path = true;  ///< a refused write shows that the node itself is there, not just any node
  };
  /// The held node whose turn it is to be written to.
  std::optional<Target> next_target();
  /// The next few nodes to ask after, round robin, so that many of them do not make a burst. Leaves out `asked`.
  std::vector<std::pair<Id, std::string>> next_batch(Id asked = 0);

  std::size_t size() const { return probes_.size(); }
  std::size_t holds() const { return held_.size(); }

 private:
  static constexpr std::size_t kBatch = 64;
  struct Probe {
    std::string path;
    std::int64_t czxid = 0;
    std::function<void()> gone;
  };
  std::map<Id, Probe> probes_;
  std::set<Id> held_;
  Id next_ = 1;
  Id last_asked_ = 0;
  Id last_target_ = 0;
};

}  // namespace zkrecipes::detail
