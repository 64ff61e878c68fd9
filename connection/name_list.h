// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace zkrecipes::detail {

/// The names of a listing in one piece of memory: a line of a thousand waiters is listed at each hand-over, and a
/// string for each name would be most of what that costs. Read from front to back. Names have no NUL in them, as
/// ZooKeeper's never do.
class NameList {
 public:
  class const_iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = std::string_view;
    using difference_type = std::ptrdiff_t;
    using pointer = const std::string_view*;
    using reference = std::string_view;

    explicit const_iterator(const char* at) : at_(at) {}
    std::string_view operator*() const { return at_; }
    const_iterator& operator++() {
      at_ += std::strlen(at_) + 1;
      return *this;
    }
    const_iterator operator++(int) {
      const const_iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const const_iterator& other) const { return at_ == other.at_; }
    bool operator!=(const const_iterator& other) const { return at_ != other.at_; }

   private:
    const char* at_;
  };

  NameList() = default;
  NameList(std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) add(name);
  }
  NameList(const std::vector<std::string>& names) {  // NOLINT(google-explicit-constructor): the same list
    for (const std::string& name : names) add(name);
  }
  /// As the C client gives them.
  NameList(const char* const* names, int count) {
    if (count <= 0) return;
    // Names of one listing are about equally long; the longest have a digit or two more.
    text_.reserve(static_cast<std::size_t>(count) * (std::strlen(names[0]) + 1));
    for (int i = 0; i < count; ++i) add(names[i]);
  }

  const_iterator begin() const { return const_iterator(text_.data()); }
  const_iterator end() const { return const_iterator(text_.data() + text_.size()); }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  bool contains(std::string_view wanted) const {
    for (const std::string_view name : *this)
      if (name == wanted) return true;
    return false;
  }

 private:
  void add(std::string_view name) {
    text_.append(name);
    text_.push_back('\0');
    ++size_;
  }

  std::string text_;  // each name with a NUL behind it
  std::size_t size_ = 0;
};

}  // namespace zkrecipes::detail
