// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "examples/herd_effect/result.h"

namespace herd_effect {

/// Each writes `stem`.svg and `stem`.png. Throws std::runtime_error if gnuplot is missing.
void draw_events(const std::vector<Races>& races, const std::string& stem);  ///< events per release against n
void draw_timeline(const Races& races, const std::string& stem);             ///< one lane per contender

}  // namespace herd_effect
