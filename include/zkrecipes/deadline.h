// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <stdexcept>

#include "zkrecipes/connection.h"

namespace zkrecipes {

/// Now plus a timeout of any kind; far ahead rather than overflowing. Throws std::invalid_argument if it is negative or
/// not a number.
template <class Rep, class Period>
Clock::time_point deadline_after(const std::chrono::duration<Rep, Period>& timeout) {
  if (!(timeout.count() >= 0)) throw std::invalid_argument("zkrecipes: the timeout is negative");
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
  const auto now = OtherClock::now();
  // Roughly first: the exact difference of times that lie far apart would overflow.
  using Seconds = std::chrono::duration<double>;
  constexpr Seconds kFar{1e9};
  const Seconds roughly = Seconds(time.time_since_epoch()) - Seconds(now.time_since_epoch());
  if (roughly < -kFar) return Clock::now();
  if (roughly > kFar) return deadline_after(roughly);
  const auto left = time - now;
  return left < left.zero() ? Clock::now() : deadline_after(left);
}

}  // namespace zkrecipes
