// SPDX-License-Identifier: Apache-2.0
#include "tests/connection/fake_clock.h"

#include <atomic>
#include <ctime>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

constexpr long kNanosecondsInASecond = 1'000'000'000;
std::atomic<long> suspended{0};  // in nanoseconds, so far

}  // namespace

namespace zkrecipes::testing {

void suspend_machine(std::chrono::nanoseconds duration) {
  suspended.fetch_add(duration.count());
}

}  // namespace zkrecipes::testing

extern "C" int clock_gettime(clockid_t clock, timespec* result) noexcept {
  const auto failed = static_cast<int>(syscall(SYS_clock_gettime, clock, result));
  if (failed != 0 || clock != CLOCK_BOOTTIME) return failed;
  const long nanoseconds = result->tv_nsec + suspended.load();
  result->tv_sec += nanoseconds / kNanosecondsInASecond;
  result->tv_nsec = nanoseconds % kNanosecondsInASecond;
  return 0;
}
