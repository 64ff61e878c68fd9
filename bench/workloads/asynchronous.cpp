// SPDX-License-Identifier: Apache-2.0
#include "bench/workloads/asynchronous.h"

#include <algorithm>
#include <utility>
#include <vector>
#include <zkrecipes/fair_mutex.h>

#include "bench/driver/process_usage.h"
#include "bench/workloads/connect.h"
#include "bench/workloads/countdown.h"

namespace bench {

namespace {

class ManyLocks final : public Workload {
 public:
  explicit ManyLocks(const DriverOptions& options) : root_(options.root), connection_(connect(options.server)) {
    for (long i = 0; i < options.cycles; ++i)
      mutexes_.push_back(std::make_unique<zkrecipes::FairMutex>(*connection_, root_ + "/many/" + std::to_string(i)));
    run(options.cycles);  // makes the parents
  }

  void run(long /*cycles*/) override {
    std::vector<zkrecipes::PendingHold> pending(mutexes_.size());
    left_.start(static_cast<long>(mutexes_.size()));
    for (std::size_t i = 0; i < mutexes_.size(); ++i) {
      pending[i] = mutexes_[i]->acquire_async();
      pending[i].on_ready([this](zkrecipes::AcquireResult result) {
        { const zkrecipes::Hold hold = std::move(result).value(); }
        left_.count();
      });
    }
    left_.wait();
    await_replies(*connection_, root_);
  }

 private:
  const std::string root_;
  const std::unique_ptr<zkrecipes::Connection> connection_;
  std::vector<std::unique_ptr<zkrecipes::FairMutex>> mutexes_;
  Countdown left_;
};

class Waiting : public Workload {
 public:
  explicit Waiting(const DriverOptions& options)
      : root_(options.root),
        holder_connection_(connect(options.server)),
        connections_(connect(options.server, options.contenders)),
        locks_(std::max(1L, options.cycles / kWaitersPerLock)) {
    for (long lock = 0; lock < locks_; ++lock)
      holds_.push_back(zkrecipes::FairMutex(*holder_connection_, path(lock)).acquire());
    for (const auto& connection : connections_)
      for (long lock = 0; lock < locks_; ++lock)
        mutexes_.push_back(std::make_unique<zkrecipes::FairMutex>(*connection, path(lock)));
    for (const auto& connection : connections_) await_replies(*connection, root_);
  }

  void prepare(long cycles) override {
    pending_.clear();
    pending_.reserve(static_cast<std::size_t>(cycles));
  }

  void run(long cycles) override {
    const long before = settled_rss_kb();
    for (long i = 0; i < cycles; ++i)
      pending_.push_back(mutexes_[static_cast<std::size_t>(i) % mutexes_.size()]->acquire_async());
    for (const auto& connection : connections_) await_replies(*connection, root_);
    const auto per_wait = [&](long kilobytes) {
      return static_cast<double>(kilobytes - before) * 1024 / static_cast<double>(cycles);
    };
    peak_bytes_ = per_wait(process_usage().peak_rss_kb);
    bytes_ = per_wait(settled_rss_kb());
  }

  std::map<std::string, double> figures() const override {
    return {{"bytes_per_wait", bytes_}, {"peak_bytes_per_wait", peak_bytes_}};
  }

 private:
  static constexpr long kWaitersPerLock = 100;  // listing a line costs its length, and that is not the question here
  std::string path(long lock) const { return root_ + "/waiting/" + std::to_string(lock); }

  const std::string root_;
  const std::unique_ptr<zkrecipes::Connection> holder_connection_;
  const std::vector<std::unique_ptr<zkrecipes::Connection>> connections_;
  const long locks_;
  std::vector<zkrecipes::Hold> holds_;
  std::vector<std::unique_ptr<zkrecipes::FairMutex>> mutexes_;
  std::vector<zkrecipes::PendingHold> pending_;
  double bytes_ = 0;
  double peak_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Workload> many_locks(const DriverOptions& options) {
  return std::make_unique<ManyLocks>(options);
}

std::unique_ptr<Workload> waiting(const DriverOptions& options) {
  return std::make_unique<Waiting>(options);
}

}  // namespace bench
