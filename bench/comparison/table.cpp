// SPDX-License-Identifier: Apache-2.0
#include "bench/comparison/table.h"

#include <algorithm>
#include <iomanip>
#include <sstream>

namespace comparison {

std::vector<Table> make_tables(const std::vector<RowResult>& rows) {
  Table faults{"When something fails", {"lock", "holder killed", "holder paused", "their updates", "servers fail"}, {}};
  Table waiting{"While one waits",
                {"lock", "woken by", "release to grant, median", "rounds in order", "token", "requests/s"},
                {}};
  for (const RowResult& row : rows) {
    faults.rows.push_back({row.title, describe(row.death), describe_holders(row.pause), describe_update(row.pause),
                           describe(row.failure)});
    waiting.rows.push_back({row.title, describe_waking(row.waiting), describe_delay(row.waiting),
                            describe_order(row.waiting), describe_token(row.waiting), describe_requests(row.waiting)});
  }
  return {faults, waiting};
}

std::string as_text(const Table& table) {
  std::vector<std::size_t> widths;
  for (std::size_t column = 0; column < table.header.size(); ++column) {
    std::size_t width = table.header[column].size();
    for (const auto& row : table.rows) width = std::max(width, row[column].size());
    widths.push_back(width);
  }
  std::ostringstream text;
  const auto line = [&](const std::vector<std::string>& cells) {
    for (std::size_t column = 0; column + 1 < cells.size(); ++column)
      text << std::left << std::setw(static_cast<int>(widths[column] + 2)) << cells[column];
    text << cells.back() << '\n';
  };
  text << table.title << "\n\n";
  line(table.header);
  for (const auto& row : table.rows) line(row);
  return text.str();
}

std::string as_markdown(const Table& table) {
  std::ostringstream text;
  const auto line = [&](const std::vector<std::string>& cells) {
    for (const std::string& cell : cells) text << "| " << cell << ' ';
    text << "|\n";
  };
  text << "### " << table.title << "\n\n";
  line(table.header);
  line(std::vector<std::string>(table.header.size(), "---"));
  for (const auto& row : table.rows) line(row);
  return text.str();
}

}  // namespace comparison
