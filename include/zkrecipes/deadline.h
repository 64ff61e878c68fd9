// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <stdexcept>

#include "zkrecipes/connection.h"

namespace zkrecipes {

/// Now plus a timeout of any kind; far ahead rather than overflowing. Throws std::invalid_argument if it is negative.
template <class Rep, class Period>
Clock::time_point deadline_after(const std::chrono::duration<Rep, Period>& timeout) {
  if (timeout < timeout.zero()) throw std::invalid_argument("zkrecipes: the timeout is negative");
  const auto now = Clock::now();
  using Seconds = std::chrono::duration<double>;
  if (std::chrono::duration_cast<Seconds>(timeout) >=
      std::chrono::duration_cast<Seconds>(Clock::time_point::max() - now))
    return Clock::time_point::max();
  return now + std::chrono::ceil<Clock::duration>(timeout);
}

inline Clock::time_point to_deadline(Clock::time_point time) {
  return time;
}

/// A time of another clock, as far ahead on ours as it is there now.
template <class OtherClock, class Duration>
Clock::time_point to_deadline(const std::chrono::time_point<OtherClock, Duration>& time) {
  const auto left = time - OtherClock::now();
  return left < left.zero() ? Clock::now() : deadline_after(left);
}

}  // namespace zkrecipes
