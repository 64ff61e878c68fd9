// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace zkrecipes::testing {

/// As if this machine had been suspended for this long: CLOCK_BOOTTIME jumps, the other clocks do not. The definition
/// of clock_gettime() in fake_clock.cpp stands before the system's.
void suspend_machine(std::chrono::nanoseconds duration);

}  // namespace zkrecipes::testing
