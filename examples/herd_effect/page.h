// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "examples/herd_effect/table.h"

namespace herd_effect {

struct PageContent {
  int contenders = 0;
  int timeline_contenders = 0;
  std::string events_svg;    ///< path of the chart
  std::string timeline_svg;  ///< path of the chart
  std::vector<Row> table;
  std::string conclusion;
};

/// One HTML file that needs nothing else: the charts are in it.
void write_page(const PageContent& content, const std::string& path);

}  // namespace herd_effect
