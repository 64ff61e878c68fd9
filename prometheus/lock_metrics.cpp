// SPDX-License-Identifier: Apache-2.0
#include "prometheus/lock_metrics.h"

#include <algorithm>
#include <mutex>
#include <string_view>

namespace zkrecipes::prometheus_detail {

namespace {

const prometheus::Histogram::BucketBoundaries kSeconds = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
                                                          0.5,    1,     2.5,    5,     10,   30,    60,   300, 1800};
const prometheus::Histogram::BucketBoundaries kContenders = {0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000};
const prometheus::Histogram::BucketBoundaries kWakeups = {0, 1, 2, 3, 5, 10, 20, 50};

/// As labels are written: to_string() is for people.
std::string label_of(const char* text) {
  std::string label = text;
  std::replace(label.begin(), label.end(), ' ', '_');
  return label;
}

constexpr const char* kUnnamed = "unnamed";
constexpr const char* kOther = "other";

}  // namespace

LockMetrics::LockMetrics(prometheus::Registry& registry, Labels labels, std::size_t max_names)
    : labels_(std::move(labels)),
      max_names_(max_names),
      acquires_(prometheus::BuildCounter()
                    .Name("zkrecipes_acquires_total")
                    .Help("Attempts to acquire a lock that have ended, by result")
                    .Register(registry)),
      losses_(prometheus::BuildCounter()
                  .Name("zkrecipes_losses_total")
                  .Help("Holds that were lost before they were released, by reason")
                  .Register(registry)),
      wait_seconds_(prometheus::BuildHistogram()
                        .Name("zkrecipes_acquire_wait_seconds")
                        .Help("Time from asking for a lock to its grant")
                        .Register(registry)),
      hold_seconds_(prometheus::BuildHistogram()
                        .Name("zkrecipes_hold_seconds")
                        .Help("Time from the grant of a lock to its release or loss")
                        .Register(registry)),
      queue_position_(prometheus::BuildHistogram()
                          .Name("zkrecipes_acquire_queue_position")
                          .Help("Contenders ahead when an attempt that was granted joined the queue")
                          .Register(registry)),
      wakeups_(prometheus::BuildHistogram()
                   .Name("zkrecipes_acquire_wakeups")
                   .Help("Watch events that an attempt received until it was granted")
                   .Register(registry)),
      holds_(prometheus::BuildGauge().Name("zkrecipes_holds").Help("Holds now").Register(registry)),
      waiters_(prometheus::BuildGauge()
                   .Name("zkrecipes_waiters")
                   .Help("Attempts that wait behind others now")
                   .Register(registry)) {}

LockSeries& LockMetrics::of(const LockInfo& lock) {
  const std::pair<std::string_view, LockMode> wanted(lock.name.empty() ? kUnnamed : std::string_view(lock.name),
                                                     lock.mode);
  {
    const std::shared_lock<std::shared_mutex> reading(mutex_);
    const auto found = series_.find(wanted);
    if (found != series_.end()) return found->second;
  }
  const std::lock_guard<std::shared_mutex> writing(mutex_);
  std::string name(wanted.first);
  if (name != kUnnamed && names_.count(name) == 0) {
    if (names_.size() < max_names_)
      names_.insert(name);
    else
      name = kOther;
  }
  const auto found = series_.find(std::pair<std::string_view, LockMode>(name, lock.mode));
  if (found != series_.end()) return found->second;
  LockSeries made = make(name, lock.mode);
  return series_.emplace(Key(std::move(name), lock.mode), made).first->second;
}

LockSeries LockMetrics::make(const std::string& name, LockMode mode) {
  Labels labels = labels_;
  labels["lock"] = name;
  labels["mode"] = to_string(mode);
  const auto with = [&labels](const char* label, const std::string& value) {
    Labels all = labels;
    all[label] = value;
    return all;
  };
  LockSeries made;
  for (std::size_t i = 0; i < made.acquires.size(); ++i)
    made.acquires[i] = &acquires_.Add(with("result", label_of(to_string(static_cast<AcquireStatus>(i)))));
  for (std::size_t i = 0; i < made.losses.size(); ++i)
    made.losses[i] = &losses_.Add(with("reason", label_of(to_string(static_cast<LossReason>(i)))));
  made.wait_seconds = &wait_seconds_.Add(labels, kSeconds);
  made.hold_seconds = &hold_seconds_.Add(labels, kSeconds);
  made.queue_position = &queue_position_.Add(labels, kContenders);
  made.wakeups = &wakeups_.Add(labels, kWakeups);
  made.holds = &holds_.Add(labels);
  made.waiters = &waiters_.Add(labels);
  return made;
}

}  // namespace zkrecipes::prometheus_detail
