// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "zkrecipes/connection.h"

namespace zkrecipes::connection {

/// When to prove that the session is alive, and which of our nodes to ask after on that occasion. Pure bookkeeping;
/// its owner guards it.
class HeartbeatPlan {
 public:
  using Id = std::uint64_t;

  /// Often enough for the lease to be true. A follower tells the leader which sessions are alive only at the leader's
  /// next ping, up to half a tick later, and the leader expires the session one timeout after the last request that it
  /// was told of. When the follower dies in between, all requests of the last half tick are unknown to the leader: so
  /// the margin of a lease, a quarter of the timeout, must cover the pause between two requests and half a tick (a
  /// tenth of the timeout by default). That holds for the pause before the first hold's create, too, so it may be
  /// longer without nodes to ask after, but not much. (The C client's own pings prove nothing to us, because their
  /// answers are not shown.)
  Clock::duration interval(std::chrono::milliseconds session_timeout) const {
    return probes_.empty() ? session_timeout / 7 : session_timeout / 10;
  }

  /// `czxid`: of the node that is meant, or 0 where the path tells it.
  Id add(const std::string& path, std::function<void()> gone, std::int64_t czxid = 0);
  void remove(Id id) { probes_.erase(id); }
  /// The callback of a probe whose node is gone, and forgets it; empty when it was removed meanwhile.
  std::function<void()> take(Id id);
  /// False when another node stands in the place of the one that is meant.
  bool is_same(Id id, std::int64_t czxid) const;
  /// The session is over; its nodes are none of our business any more.
  void clear() { probes_.clear(); }

  /// The next few nodes, round robin, so that many of them do not make a burst.
  std::vector<std::pair<Id, std::string>> next_batch();
  std::size_t size() const { return probes_.size(); }

  Clock::time_point due = Clock::time_point::max();

 private:
  static constexpr std::size_t kBatch = 64;
  struct Probe {
    std::string path;
    std::function<void()> gone;
    std::int64_t czxid = 0;
  };
  std::map<Id, Probe> probes_;
  Id next_ = 1;
  Id last_asked_ = 0;
};

}  // namespace zkrecipes::connection
