// SPDX-License-Identifier: Apache-2.0
#include "connection/timers.h"

#include <algorithm>
#include <vector>

namespace zkrecipes::detail {

TimerId Timers::add(Clock::time_point time, std::function<void()> task) {
  MutexLock lock(mutex_);
  const TimerId id = next_id_++;
  timers_.emplace(std::make_pair(time, id), std::move(task));
  times_.emplace(id, time);
  arm();
  return id;
}

void Timers::cancel(TimerId id) {
  std::function<void()> dropped;  // destroyed without the mutex
  MutexLock lock(mutex_);
  const auto time = times_.find(id);
  if (time == times_.end()) return;
  const auto timer = timers_.find({time->second, id});
  dropped = std::move(timer->second);
  timers_.erase(timer);
  times_.erase(time);
}

std::size_t Timers::size() const {
  MutexLock lock(mutex_);
  return timers_.size();
}

void Timers::arm() {
  if (timers_.empty()) return;
  const auto earliest = timers_.begin()->first.first;
  if (earliest >= armed_) return;
  armed_ = earliest;
  lane_.post_at(earliest, [this, earliest] { fire(earliest); });
}

void Timers::fire(Clock::time_point scheduled) {
  std::vector<std::function<void()>> due;
  {
    MutexLock lock(mutex_);
    if (scheduled != armed_) return;  // superseded by an earlier one
    armed_ = Clock::time_point::max();
    // A lane that is drained runs its timers ahead of their time.
    const auto until = std::max(scheduled, world_.now());
    while (!timers_.empty() && timers_.begin()->first.first <= until) {
      due.push_back(std::move(timers_.begin()->second));
      times_.erase(timers_.begin()->first.second);
      timers_.erase(timers_.begin());
    }
    arm();
  }
  for (std::function<void()>& task : due) std::exchange(task, nullptr)();
}

}  // namespace zkrecipes::detail
