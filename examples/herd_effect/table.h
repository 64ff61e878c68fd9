// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "examples/herd_effect/result.h"

namespace herd_effect {

struct Row {
  std::string what;
  std::string simple;
  std::string fair;
};

/// Two races of the same size side by side.
std::vector<Row> make_table(const RaceLog& simple, const RaceLog& fair);
std::string as_text(const std::vector<Row>& table);
std::string as_html(const std::vector<Row>& table);

/// How the figures were counted.
extern const char* const kHowCounted;

/// One sentence.
std::string conclusion(const RaceLog& simple, const RaceLog& fair);

}  // namespace herd_effect
