// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <iosfwd>

#include "tests/simulation/run.h"

namespace zkrecipes::simulation {

/// The whole trace, a line each.
void print_trace(std::ostream& out, const RunResult& result);

/// The violation and the last lines of the trace that have to do with it: what its processes did with its lock, faults,
/// elections and sessions.
void print_violation(std::ostream& out, const RunResult& result, std::size_t most_lines = 80);

}  // namespace zkrecipes::simulation
