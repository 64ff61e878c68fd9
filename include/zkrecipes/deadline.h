// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <stdexcept>

#include "zkrecipes/connection.h"

namespace zkrecipes {

/// Now plus a timeout of any duration type. Returns Clock::time_point::max() rather than overflowing. A negative
/// timeout ends now, as for the timed mutexes of the standard library. Throws std::invalid_argument if the timeout is
/// NaN.
template <class Rep, class Period>
Clock::time_point deadline_after(const std::chrono::duration<Rep, Period>& timeout) {
  // Only a NaN is neither.
  if (!(timeout.count() >= 0) && !(timeout.count() < 0))
    throw std::invalid_argument("zkrecipes: the timeout is not a number");
  const auto now = Clock::now();
  if (timeout.count() < 0) return now;
  using Seconds = std::chrono::duration<double>;
  if (std::chrono::duration_cast<Seconds>(timeout) >=
      std::chrono::duration_cast<Seconds>(Clock::time_point::max() - now))
    return Clock::time_point::max();
  return now + std::chrono::ceil<Clock::duration>(timeout);
}

inline Clock::time_point to_deadline(Clock::time_point time) {
  return time;
}

/// Converts a time of another clock: the result is as far ahead of Clock::now() as `time` is of OtherClock::now().
template <class OtherClock, class Duration>
Clock::time_point to_deadline(const std::chrono::time_point<OtherClock, Duration>& time) {
  const auto now = OtherClock::now();
  // Roughly first: the exact difference of times that lie far apart would overflow.
  using Seconds = std::chrono::duration<double>;
  constexpr Seconds kFar{1e9};
  const Seconds roughly = Seconds(time.time_since_epoch()) - Seconds(now.time_since_epoch());
  if (roughly < -kFar || roughly > kFar) return deadline_after(roughly);
  return deadline_after(time - now);
}

}  // namespace zkrecipes
