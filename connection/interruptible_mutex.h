// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <boost/thread/condition_variable.hpp>
#include <boost/thread/lock_types.hpp>
#include <boost/thread/mutex.hpp>
#include <chrono>

#include "connection/mutex.h"
#include "zkrecipes/connection.h"

namespace zkrecipes::detail {

/// Boost's, because waiting with an InterruptibleCondition is an interruption point of Boost.Thread.
using InterruptibleMutex = AnnotatedMutex<boost::mutex>;
using InterruptibleLock = AnnotatedLock<boost::mutex, boost::unique_lock<boost::mutex>>;
using InterruptibleCondition = AnnotatedCondition<InterruptibleLock, boost::condition_variable>;

/// Waits for a notification. False when the time is over first.
inline bool wait_by(InterruptibleCondition& condition, InterruptibleLock& lock, Clock::time_point deadline) {
  if (deadline == Clock::time_point::max()) {
    condition.wait(lock);
    return true;
  }
  // Both clocks are the system's monotonic one. The system refuses times before its epoch.
  const auto not_negative = std::max(deadline.time_since_epoch(), Clock::duration::zero());
  const boost::chrono::nanoseconds since_epoch(
      std::chrono::duration_cast<std::chrono::nanoseconds>(not_negative).count());
  return condition.wait_until(lock, boost::chrono::steady_clock::time_point(since_epoch)) != boost::cv_status::timeout;
}

}  // namespace zkrecipes::detail
