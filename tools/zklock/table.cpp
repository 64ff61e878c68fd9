// SPDX-License-Identifier: Apache-2.0
#include "tools/zklock/table.h"

#include <algorithm>
#include <numeric>

#include "tools/zklock/text.h"

namespace zklock {

void Table::add(const std::vector<std::string>& cells) {
  std::vector<std::string> row;
  row.reserve(cells.size());
  for (const std::string& each : cells) row.push_back(printable(each));
  rows_.push_back(std::move(row));
}

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> widths(rows_[0].size(), 0);
  for (const auto& row : rows_)
    for (std::size_t column = 0; column < row.size(); ++column)
      widths[column] = std::max(widths[column], columns(row[column]));
  return widths;
}

std::size_t Table::width() const {
  const std::vector<std::size_t> all = widths();
  return std::accumulate(all.begin(), all.end(), 2 * (all.size() - 1));
}

std::string Table::text(std::size_t width) const {
  const std::vector<std::size_t> widths = this->widths();
  std::string result;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t column = 0; column < row.size(); ++column) {
      if (column != 0) line += "  ";
      line += row[column] + std::string(widths[column] - columns(row[column]), ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    result += (width == 0 ? line : shortened(line, width)) + "\n";
  }
  return result;
}

}  // namespace zklock
