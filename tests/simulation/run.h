// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/simulation/faults.h"
#include "tests/simulation/lock_checker.h"
#include "tests/simulation/trace.h"

namespace zkrecipes::simulation {

struct RunOptions {
  std::uint64_t seed = 1;
  FaultSet faults = default_faults();
  bool keep_trace = false;
};

struct RunResult {
  std::optional<Violation> violation;
  std::uint64_t acquires = 0;
  std::uint64_t steps = 0;   ///< events of the scheduler
  std::uint64_t digest = 0;  ///< of the trace
  Time simulated{};
  std::vector<Trace::Line> trace;  ///< if it was kept
};

/// One run in a world of its own: an ensemble and some client processes under faults, then a time without faults in
/// which everybody must be served and everything must come back to zero. The seed decides everything. Ends at the first
/// violation.
RunResult run_simulation(const RunOptions& options);

}  // namespace zkrecipes::simulation
