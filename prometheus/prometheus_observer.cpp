// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <unordered_set>
#include <utility>

#include "prometheus/lock_metrics.h"
#include "zkrecipes/prometheus.h"

namespace zkrecipes {

using prometheus_detail::Labels;
using prometheus_detail::LockMetrics;
using prometheus_detail::LockSeries;

namespace {

// A lease margin is less than a session timeout, and a heartbeat that takes longer than that has ended the session.
const prometheus::Histogram::BucketBoundaries kRoundTrip = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                                            0.25,   0.5,   1,      2.5,   5,    10,    30};
const prometheus::Histogram::BucketBoundaries kMargin = {0.1, 0.25, 0.5, 1, 1.5, 2, 3, 4, 5, 7.5, 10, 15, 20, 30, 60};

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

void change(prometheus::Gauge& gauge, double by) {
  if (by > 0) gauge.Increment(by);
  if (by < 0) gauge.Decrement(-by);
}

/// Of the character that begins with this byte; 0: none does.
std::size_t utf8_length(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) return 2;
  if (first >= 0xE0 && first < 0xF0) return 3;
  return first >= 0xF0 && first < 0xF5 ? 4 : 0;
}

bool is_utf8(const std::string& text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(byte(at));
    if (length == 0 || text.size() - at < length) return false;
    for (std::size_t next = 1; next < length; ++next)
      if ((byte(at + next) & 0xC0) != 0x80) return false;
    // Longer than needed, a surrogate, or beyond the last character.
    if (byte(at) == 0xE0 && byte(at + 1) < 0xA0) return false;
    if (byte(at) == 0xED && byte(at + 1) >= 0xA0) return false;
    if (byte(at) == 0xF0 && byte(at + 1) < 0x90) return false;
    if (byte(at) == 0xF4 && byte(at + 1) >= 0x90) return false;
    at += length;
  }
  return true;
}

/// Prometheus keeps names that begin with two underscores for itself. CheckLabelName() of prometheus-cpp is not used
/// because its parameters differ between releases.
bool is_label_name(const std::string& text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return !text.empty() && is_letter(text.front()) && text.compare(0, 2, "__") != 0 &&
         std::all_of(text.begin(), text.end(), [&](char c) { return is_letter(c) || is_digit(c); });
}

PrometheusOptions checked(PrometheusOptions options) {
  for (const char* taken : {"lock", "mode", "result", "reason", "session", "le"})
    if (options.labels.count(taken) != 0)
      throw std::invalid_argument(std::string("zkrecipes: PrometheusOptions::labels: the name \"") + taken +
                                  "\" is one of the metrics' own; choose another");
  for (const auto& [name, value] : options.labels) {
    if (!is_label_name(name))
      throw std::invalid_argument("zkrecipes: PrometheusOptions::labels: \"" + name +
                                  "\" is no label name; use letters, digits and underscores, and begin with a letter");
    if (!is_utf8(value))
      throw std::invalid_argument("zkrecipes: PrometheusOptions::labels: the value of \"" + name +
                                  "\" is not UTF-8, and Prometheus would refuse all metrics of this program");
  }
  return options;
}

std::shared_ptr<prometheus::Registry> checked(std::shared_ptr<prometheus::Registry> registry) {
  if (!registry) throw std::invalid_argument("zkrecipes: PrometheusObserver: the registry is null");
  return registry;
}

}  // namespace

class PrometheusObserver::Metrics {
 public:
  Metrics(std::shared_ptr<prometheus::Registry> registry, const PrometheusOptions& options)
      : registry_(std::move(registry)),
        labels_(options.labels),
        locks(*registry_, options.labels, options.max_lock_names),
        connected(gauge("zkrecipes_connected", "Connections that have a server now")),
        requests_in_flight(gauge("zkrecipes_requests_in_flight", "Requests without an answer, at the last heartbeat")),
        requests_waiting(gauge("zkrecipes_requests_waiting",
                               "Requests not sent yet because too many are in flight, at the last heartbeat")),
        lease_margin(gauge("zkrecipes_lease_margin_seconds",
                           "What was left of the lease when the last heartbeat was answered; NaN without holds "
                           "or session")),
        expirations(counter("zkrecipes_session_expirations_total", "Sessions that were lost")),
        server_changes(counter("zkrecipes_server_changes_total", "Times that the connection came to another server")),
        leftovers(counter("zkrecipes_leftovers_removed_total", "Nodes removed that nobody needed any more")),
        reconnects(prometheus::BuildCounter()
                       .Name("zkrecipes_reconnects_total")
                       .Help("Reconnects, by session")
                       .Register(*registry_)),
        reconnects_same(reconnects.Add(with("session", "same"))),
        reconnects_new(reconnects.Add(with("session", "new"))),
        heartbeat(histogram("zkrecipes_heartbeat_seconds", "Round trip of a heartbeat", kRoundTrip)),
        heartbeat_margin(histogram("zkrecipes_heartbeat_lease_margin_seconds",
                                   "What was left of the lease when a heartbeat was answered", kMargin)) {
    lease_margin.Set(std::numeric_limits<double>::quiet_NaN());
  }

  /// The attempt does not wait any more.
  void waits_no_more(std::uint64_t id, LockSeries& series) {
    if (waiting_count_.load() == 0) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    if (waiting_.erase(id) == 0) return;
    --waiting_count_;
    series.waiters->Decrement();
  }
  void waits(std::uint64_t id, LockSeries& series) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!waiting_.insert(id).second) return;
    ++waiting_count_;
    series.waiters->Increment();
  }
  /// Of this observer; others may share the gauges.
  void set_requests(double in_flight, double waiting) {
    change(requests_in_flight, in_flight - in_flight_.exchange(in_flight));
    change(requests_waiting, waiting - waiting_requests_.exchange(waiting));
  }

 private:
  Labels with(const char* label, const char* value) const {
    Labels all = labels_;
    all.emplace(label, value);
    return all;
  }
  prometheus::Gauge& gauge(const char* name, const char* help) const {
    return prometheus::BuildGauge().Name(name).Help(help).Register(*registry_).Add(labels_);
  }
  prometheus::Counter& counter(const char* name, const char* help) const {
    return prometheus::BuildCounter().Name(name).Help(help).Register(*registry_).Add(labels_);
  }
  prometheus::Histogram& histogram(const char* name, const char* help,
                                   const prometheus::Histogram::BucketBoundaries& buckets) const {
    return prometheus::BuildHistogram().Name(name).Help(help).Register(*registry_).Add(labels_, buckets);
  }

  const std::shared_ptr<prometheus::Registry> registry_;
  const Labels labels_;
  std::atomic<double> in_flight_{0};
  std::atomic<double> waiting_requests_{0};
  std::atomic<std::size_t> waiting_count_{0};  // that of waiting_, so that most acquires need no mutex
  std::mutex mutex_;
  std::unordered_set<std::uint64_t> waiting_;  // guarded by mutex_

 public:
  LockMetrics locks;
  prometheus::Gauge& connected;
  prometheus::Gauge& requests_in_flight;
  prometheus::Gauge& requests_waiting;
  prometheus::Gauge& lease_margin;
  prometheus::Counter& expirations;
  prometheus::Counter& server_changes;
  prometheus::Counter& leftovers;
  prometheus::Family<prometheus::Counter>& reconnects;
  prometheus::Counter& reconnects_same;
  prometheus::Counter& reconnects_new;
  prometheus::Histogram& heartbeat;
  prometheus::Histogram& heartbeat_margin;
  std::atomic<std::int64_t> lost_session{0};  // the newest
};

PrometheusObserver::PrometheusObserver(std::shared_ptr<prometheus::Registry> registry, PrometheusOptions options)
    : metrics_(std::make_unique<Metrics>(checked(std::move(registry)), checked(std::move(options)))) {}

PrometheusObserver::~PrometheusObserver() = default;

// ---- Locks ----

void PrometheusObserver::on_waiting(const LockWaiting& event) {
  metrics_->waits(event.id, metrics_->locks.of(*event.lock));
}

void PrometheusObserver::on_acquired(const LockAcquired& event) {
  LockSeries& series = metrics_->locks.of(*event.lock);
  series.holds->Increment();
  if (event.downgraded) return;  // nobody has asked for it
  metrics_->waits_no_more(event.id, series);
  series.acquires[static_cast<std::size_t>(AcquireStatus::granted)]->Increment();
  series.wait_seconds->Observe(seconds(event.cost.waited));
  series.queue_position->Observe(event.cost.queue_position);
  series.wakeups->Observe(event.cost.wakeups);
}

void PrometheusObserver::on_not_acquired(const LockNotAcquired& event) {
  LockSeries& series = metrics_->locks.of(*event.lock);
  metrics_->waits_no_more(event.id, series);
  series.acquires[static_cast<std::size_t>(event.status)]->Increment();
}

void PrometheusObserver::on_released(const LockReleased& event) {
  LockSeries& series = metrics_->locks.of(*event.lock);
  series.holds->Decrement();
  series.hold_seconds->Observe(seconds(event.held));
}

void PrometheusObserver::on_lost(const LockLost& event) {
  LockSeries& series = metrics_->locks.of(*event.lock);
  series.holds->Decrement();
  series.hold_seconds->Observe(seconds(event.held));
  series.losses[static_cast<std::size_t>(event.reason)]->Increment();
}

// ---- The connection ----

void PrometheusObserver::on_leftover_removed(const LeftoverRemoved& /*event*/) {
  metrics_->leftovers.Increment();
}

void PrometheusObserver::on_state_changed(const StateChanged& event) {
  if (event.state == ConnectionState::connected) metrics_->connected.Increment();
  if (event.before == ConnectionState::connected) metrics_->connected.Decrement();
  if (event.state == ConnectionState::lost) metrics_->lost_session = event.session_id;
  // An expired session of a handle that is lent ends the connection, which is not `lost` before.
  if (event.state == ConnectionState::lost || (event.state == ConnectionState::closed && event.session_expired))
    metrics_->expirations.Increment();
  if (event.state == ConnectionState::connected && event.before == ConnectionState::suspended)
    metrics_->reconnects_same.Increment();
  if (event.state == ConnectionState::connected && event.before == ConnectionState::lost)
    (event.session_id == metrics_->lost_session ? metrics_->reconnects_same : metrics_->reconnects_new).Increment();
  if (event.state == ConnectionState::closed) metrics_->set_requests(0, 0);
  if (event.state == ConnectionState::lost || event.state == ConnectionState::closed)
    metrics_->lease_margin.Set(std::numeric_limits<double>::quiet_NaN());
}

void PrometheusObserver::on_server_changed(const ServerChanged& event) {
  if (!event.before.empty()) metrics_->server_changes.Increment();
}

void PrometheusObserver::on_heartbeat(const HeartbeatAnswered& event) {
  metrics_->heartbeat.Observe(seconds(event.round_trip));
  metrics_->set_requests(static_cast<double>(event.requests_in_flight), static_cast<double>(event.requests_waiting));
  if (!event.lease_left) return metrics_->lease_margin.Set(std::numeric_limits<double>::quiet_NaN());
  metrics_->lease_margin.Set(seconds(*event.lease_left));
  metrics_->heartbeat_margin.Observe(seconds(*event.lease_left));
}

}  // namespace zkrecipes
