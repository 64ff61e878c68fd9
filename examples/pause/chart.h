// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "examples/pause/scenario.h"

namespace pause_example {

/// One panel per outcome with a lane for each writer; `stem`.svg and `stem`.png. Throws if gnuplot is missing.
void draw_outcomes(const std::vector<Outcome>& outcomes, const std::string& stem);

}  // namespace pause_example
