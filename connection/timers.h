// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "connection/mutex.h"
#include "connection/world.h"

namespace zkrecipes::detail {

using TimerId = std::uint64_t;  // 0: none

/// Timers on a lane that can be taken back. A lane cannot forget a task, so only the earliest timer stands there, and
/// the rest waits here: what is cancelled is gone at once. Thread-safe; outlives the tasks of the lane.
class Timers {
 public:
  Timers(const World& world, Lane& lane) : world_(world), lane_(lane) {}

  /// `task` runs on the lane.
  TimerId add(Clock::time_point time, std::function<void()> task);
  /// Afterwards the task is not started any more. It may be running.
  void cancel(TimerId id);
  std::size_t size() const;

 private:
  void arm() ZKR_REQUIRES(mutex_);
  void fire(Clock::time_point scheduled);

  const World& world_;
  Lane& lane_;
  mutable Mutex mutex_;
  TimerId next_id_ ZKR_GUARDED_BY(mutex_) = 1;
  std::map<std::pair<Clock::time_point, TimerId>, std::function<void()>> timers_ ZKR_GUARDED_BY(mutex_);
  std::map<TimerId, Clock::time_point> times_ ZKR_GUARDED_BY(mutex_);
  Clock::time_point armed_ ZKR_GUARDED_BY(mutex_) = Clock::time_point::max();  // max: not armed
};

}  // namespace zkrecipes::detail
