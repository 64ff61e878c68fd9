// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/comparison/result.h"

namespace comparison {

struct Table {
  std::string title;
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;  ///< each as long as the header
};

/// When something fails; while one waits. A row for each design.
std::vector<Table> make_tables(const std::vector<RowResult>& rows);

std::string as_text(const Table& table);
std::string as_markdown(const Table& table);

}  // namespace comparison
