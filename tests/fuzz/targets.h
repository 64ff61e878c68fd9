// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace zkrecipes::testing {

/// A parser of input from outside. `run` throws std::logic_error when it breaks a promise on this
/// input; a crash or a hang is a finding as well.
struct FuzzTarget {
  const char* name;
  void (*run)(const std::string& input);
  std::vector<std::string> examples;  ///< where to start from
};

const std::vector<FuzzTarget>& fuzz_targets();

}  // namespace zkrecipes::testing
