// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "examples/herd_effect/result.h"

namespace herd_effect {

struct Row {
  std::string what;
  std::vector<std::string> values;  ///< in the order of kLockKinds
};

/// The races of one size side by side.
std::vector<Row> make_table(const Races& races);
std::string as_text(const std::vector<Row>& table);
std::string as_html(const std::vector<Row>& table);

/// How the figures were counted.
extern const char* const kHowCounted;

/// One sentence.
std::string conclusion(const Races& races);

}  // namespace herd_effect
