// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <ctime>

#include "zkrecipes/connection.h"

namespace zkrecipes::detail {

/// The clock that leases are counted on. It also runs while the machine is suspended, as the server's does, which
/// std::chrono::steady_clock on Linux does not. A type of its own, so that the compiler refuses to mix the two.
struct LeaseClock {
  using duration = Clock::duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<LeaseClock>;
  static constexpr bool is_steady = true;

  static time_point now() noexcept {
#ifdef CLOCK_BOOTTIME
    timespec now{};
    if (clock_gettime(CLOCK_BOOTTIME, &now) == 0)
      return time_point(std::chrono::duration_cast<duration>(std::chrono::seconds(now.tv_sec) +
                                                             std::chrono::nanoseconds(now.tv_nsec)));
#endif
    return time_point(Clock::now().time_since_epoch());
  }
};

}  // namespace zkrecipes::detail
