// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace zklock {

/// Columns below headings, as wide as they need to be. Cells are made printable().
class Table {
 public:
  explicit Table(std::vector<std::string> headings) : rows_{std::move(headings)} {}
  void add(const std::vector<std::string>& cells);
  /// Of the longest line.
  std::size_t width() const;
  /// Lines of at most `width` columns; 0: as long as they are.
  std::string text(std::size_t width = 0) const;

 private:
  std::vector<std::size_t> widths() const;  ///< of the columns

  std::vector<std::vector<std::string>> rows_;
};

}  // namespace zklock
