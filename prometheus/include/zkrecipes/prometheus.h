// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "zkrecipes/observer.h"

namespace prometheus {
class Registry;
}

namespace zkrecipes {

/// Settings of a PrometheusObserver, checked by its constructor.
struct PrometheusOptions {
  /// On each metric, to tell the connections of a process apart: {{"connection", "orders"}}. The names `lock`, `mode`,
  /// `result`, `reason`, `session` and `le` are taken. Values are UTF-8.
  std::map<std::string, std::string> labels;
  /// Locks are told apart by LockOptions::name. This many names have time series of their own; locks with further names
  /// are counted together as lock="other", so that a program which makes names up cannot flood the monitoring. Each
  /// name costs some 80 time series per mode of its locks.
  std::size_t max_lock_names = 100;
};

/// Shows in a registry of prometheus-cpp what the locks of a connection do. docs/metrics.md lists the metrics and says
/// which of them to watch. Link with zkrecipes::prometheus.
///
///     auto registry = std::make_shared<prometheus::Registry>();
///     prometheus::Exposer exposer("0.0.0.0:9464");
///     exposer.RegisterCollectable(registry);
///     zkrecipes::ConnectionOptions options;
///     options.servers = "zk1:2181,zk2:2181,zk3:2181";
///     options.observer = std::make_shared<zkrecipes::PrometheusObserver>(registry);
///     zkrecipes::Connection connection(options);
///
/// Each connection needs an observer of its own. With one for two connections, zkrecipes_requests_in_flight and
/// zkrecipes_requests_waiting show the connection whose heartbeat was answered last, and a reconnect may be counted
/// under the wrong `session`. Observers of one registry share the metrics whose labels are equal: counters and the
/// numbers of holds, waiters, connections and requests are added up; the lease margin is that of the connection that
/// was heard of last. So give the connections of one process different labels. A registry with InsertBehavior::Throw
/// takes one observer only.
///
/// Thread-safe. Lifetime: keeps the registry. Its metrics stay in the registry after its end, as counters should.
class PrometheusObserver final : public Observer {
 public:
  /// Throws std::invalid_argument if there is no registry, or if a label cannot be used, or if the registry has a
  /// metric of another kind with one of our names.
  explicit PrometheusObserver(std::shared_ptr<prometheus::Registry> registry, PrometheusOptions options = {});
  ~PrometheusObserver() override;

  void on_waiting(const LockWaiting& event) override;
  void on_acquired(const LockAcquired& event) override;
  void on_not_acquired(const LockNotAcquired& event) override;
  void on_released(const LockReleased& event) override;
  void on_lost(const LockLost& event) override;
  void on_leftover_removed(const LeftoverRemoved& event) override;
  void on_state_changed(const StateChanged& event) override;
  void on_server_changed(const ServerChanged& event) override;
  void on_heartbeat(const HeartbeatAnswered& event) override;

 private:
  class Metrics;
  const std::unique_ptr<Metrics> metrics_;
};

}  // namespace zkrecipes
