// SPDX-License-Identifier: Apache-2.0
//
// For LD_PRELOAD: as if the machine had been suspended for an hour, once the file exists that SUSPENDED_FILE names.
// CLOCK_BOOTTIME has gone on, the other clocks have not.
#include <cstdlib>
#include <ctime>
#include <sys/syscall.h>
#include <unistd.h>

extern "C" int clock_gettime(clockid_t clock, timespec* result) noexcept {
  const auto failed = static_cast<int>(::syscall(SYS_clock_gettime, clock, result));
  if (failed != 0 || clock != CLOCK_BOOTTIME) return failed;
  const char* file = std::getenv("SUSPENDED_FILE");
  if (file != nullptr && ::access(file, F_OK) == 0) result->tv_sec += 3600;
  return 0;
}
