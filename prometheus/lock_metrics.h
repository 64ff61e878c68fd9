// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <set>
#include <shared_mutex>
#include <string>
#include <utility>

#include "zkrecipes/observer.h"

namespace zkrecipes::prometheus_detail {

using Labels = std::map<std::string, std::string>;

/// The time series of the locks with one name and one mode. They live as long as the registry.
struct LockSeries {
  std::array<prometheus::Counter*, 6> acquires{};  // by AcquireStatus
  std::array<prometheus::Counter*, 4> losses{};    // by LossReason
  prometheus::Histogram* wait_seconds = nullptr;
  prometheus::Histogram* hold_seconds = nullptr;
  prometheus::Histogram* queue_position = nullptr;
  prometheus::Histogram* wakeups = nullptr;
  prometheus::Gauge* holds = nullptr;
  prometheus::Gauge* waiters = nullptr;
};

/// The metrics that are about locks, with the labels `lock` and `mode`. Thread-safe.
class LockMetrics {
 public:
  LockMetrics(prometheus::Registry& registry, Labels labels, std::size_t max_names);

  /// Made when a lock of this name is heard of for the first time, each series with the value 0.
  LockSeries& of(const LockInfo& lock);

 private:
  /// Looked up without making a string.
  struct Less {
    using is_transparent = void;
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return a.second != b.second ? a.second < b.second : a.first < b.first;
    }
  };
  using Key = std::pair<std::string, LockMode>;
  LockSeries make(const std::string& name, LockMode mode);

  const Labels labels_;
  const std::size_t max_names_;
  prometheus::Family<prometheus::Counter>& acquires_;
  prometheus::Family<prometheus::Counter>& losses_;
  prometheus::Family<prometheus::Histogram>& wait_seconds_;
  prometheus::Family<prometheus::Histogram>& hold_seconds_;
  prometheus::Family<prometheus::Histogram>& queue_position_;
  prometheus::Family<prometheus::Histogram>& wakeups_;
  prometheus::Family<prometheus::Gauge>& holds_;
  prometheus::Family<prometheus::Gauge>& waiters_;

  std::shared_mutex mutex_;
  std::map<Key, LockSeries, Less> series_;  // guarded by mutex_
  std::set<std::string> names_;             // guarded by mutex_; those that have series of their own
};

}  // namespace zkrecipes::prometheus_detail
