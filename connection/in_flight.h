// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace zkrecipes::detail {

/// What waits for an answer, by request number. Numbers grow, and answers come nearly always in the order of the
/// requests, so this is a queue from whose front things are taken; anything else is found by halving.
template <typename Pending>
class InFlight {
 public:
  /// `number`: larger than all before.
  void add(std::uint64_t number, Pending pending) {
    entries_.push_back({number, std::move(pending)});
    ++size_;
  }

  /// None when it was taken before.
  std::optional<Pending> take(std::uint64_t number) {
    auto entry = entries_.begin() + static_cast<std::ptrdiff_t>(first_);
    if (entry != entries_.end() && entry->number != number)
      entry = std::lower_bound(entry, entries_.end(), number,
                               [](const Entry& one, std::uint64_t wanted) { return one.number < wanted; });
    if (entry == entries_.end() || entry->number != number) return std::nullopt;
    std::optional<Pending> taken = std::exchange(entry->pending, std::nullopt);
    if (taken) --size_;
    drop_taken();
    return taken;
  }

  /// All that `wanted` says, oldest first.
  template <typename Predicate>
  std::vector<Pending> take_if(Predicate wanted) {
    std::vector<Pending> taken;
    for (Entry& entry : entries_)
      if (entry.pending && wanted(*entry.pending)) {
        taken.push_back(std::move(*entry.pending));
        entry.pending.reset();
        --size_;
      }
    drop_taken();
    return taken;
  }

  template <typename Predicate>
  std::size_t count_if(Predicate wanted) const {
    return static_cast<std::size_t>(std::count_if(
        entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.pending && wanted(*entry.pending); }));
  }

  /// The oldest; null when there is none.
  const Pending* front() const { return empty() ? nullptr : &*entries_[first_].pending; }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  struct Entry {
    std::uint64_t number;
    std::optional<Pending> pending;  // none: taken
  };
  static constexpr std::size_t kKept = 256;  // entries whose memory is kept when nothing is in flight

  void drop_taken() {
    while (first_ < entries_.size() && !entries_[first_].pending) ++first_;
    if (first_ == entries_.size()) {
      entries_.clear();
      first_ = 0;
      if (entries_.capacity() > kKept) entries_.shrink_to_fit();
    } else if (first_ >= kKept && first_ * 2 >= entries_.size()) {
      entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(first_));
      first_ = 0;
    }
  }

  std::vector<Entry> entries_;  // by number
  std::size_t first_ = 0;       // all before it are taken
  std::size_t size_ = 0;        // those not taken
};

}  // namespace zkrecipes::detail
