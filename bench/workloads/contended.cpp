// SPDX-License-Identifier: Apache-2.0
#include "bench/workloads/contended.h"

#include <atomic>
#include <thread>
#include <utility>
#include <vector>
#include <zkrecipes/fair_mutex.h>

#include "bench/workloads/connect.h"
#include "bench/workloads/countdown.h"

namespace bench {

namespace {

class HandOver : public Workload {
 public:
  explicit HandOver(const DriverOptions& options) : connections_(connect(options.server, options.contenders)) {
    for (const auto& connection : connections_)
      mutexes_.push_back(std::make_unique<zkrecipes::FairMutex>(*connection, options.root + "/" + options.workload));
  }

  void run(long cycles) override {
    std::atomic<long> left(cycles);
    std::vector<std::thread> threads;
    for (const auto& mutex : mutexes_)
      threads.emplace_back([&left, &mutex = *mutex] {
        while (left.fetch_sub(1) > 0) {
          mutex.lock();
          mutex.unlock();
        }
      });
    for (std::thread& thread : threads) thread.join();
  }

 private:
  const std::vector<std::unique_ptr<zkrecipes::Connection>> connections_;
  std::vector<std::unique_ptr<zkrecipes::FairMutex>> mutexes_;
};

class Drain : public Workload {
 public:
  explicit Drain(const DriverOptions& options)
      : root_(options.root),
        holder_connection_(connect(options.server)),
        connections_(connect(options.server, options.contenders)),
        holder_(*holder_connection_, root_ + "/drain") {
    for (const auto& connection : connections_)
      mutexes_.push_back(std::make_unique<zkrecipes::FairMutex>(*connection, root_ + "/drain"));
  }

  void prepare(long cycles) override {
    hold_ = holder_.acquire();
    left_.start(cycles);
    line_.clear();
    line_.resize(static_cast<std::size_t>(cycles));
    for (std::size_t i = 0; i < line_.size(); ++i) {
      line_[i] = mutexes_[i % mutexes_.size()]->acquire_async();
      line_[i].on_ready([this](zkrecipes::AcquireResult result) {
        { const zkrecipes::Hold hold = std::move(result).value(); }
        left_.count();
      });
    }
    for (const auto& connection : connections_) await_replies(*connection, root_);
  }

  void run(long /*cycles*/) override {
    hold_ = {};
    left_.wait();
  }

 private:
  const std::string root_;
  // Before the connections, so that these are closed first: their callbacks use both.
  std::vector<zkrecipes::PendingHold> line_;
  Countdown left_;
  const std::unique_ptr<zkrecipes::Connection> holder_connection_;
  const std::vector<std::unique_ptr<zkrecipes::Connection>> connections_;
  zkrecipes::FairMutex holder_;
  std::vector<std::unique_ptr<zkrecipes::FairMutex>> mutexes_;
  zkrecipes::Hold hold_;
};

}  // namespace

std::unique_ptr<Workload> hand_over(const DriverOptions& options) {
  return std::make_unique<HandOver>(options);
}

std::unique_ptr<Workload> drain(const DriverOptions& options) {
  return std::make_unique<Drain>(options);
}

}  // namespace bench
