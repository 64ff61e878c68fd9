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

  /// Just before the C client would send its ping, which proves nothing to us because its answer is not shown.
  static Clock::duration interval(std::chrono::milliseconds session_timeout) { return session_timeout * 3 / 10; }

  Id add(const std::string& path, std::function<void()> gone);
  void remove(Id id) { probes_.erase(id); }
  /// The callback of a probe whose node is gone, and forgets it; empty when it was removed meanwhile.
  std::function<void()> take(Id id);
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
  };
  std::map<Id, Probe> probes_;
  Id next_ = 1;
  Id last_asked_ = 0;
};

}  // namespace zkrecipes::connection
