// SPDX-License-Identifier: Apache-2.0
#include "bench/workloads/contended.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>
#include <zkrecipes/fair_mutex.h>
#include <zkrecipes/simple_lock.h>

#include "bench/workloads/connect.h"
#include "bench/workloads/countdown.h"
#include "bench/workloads/lock_kinds.h"

namespace bench {

namespace {

/// Lets a contender wait for another one's turn.
class Turns {
 public:
  void start(long count) {
    taken_ = 0;
    count_ = count;
  }
  /// Takes the next one, and returns its number.
  long take() {
    std::lock_guard<std::mutex> lock(mutex_);
    changed_.notify_all();
    return ++taken_;
  }
  /// Until somebody has taken a later turn than this one, if there is a later one.
  void await_later(long turn) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return taken_ > turn || turn >= count_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  long taken_ = 0;  // guarded by mutex_
  long count_ = 0;  // constant while contenders run
};

template <class Lock>
class HandOver : public Workload {
 public:
  explicit HandOver(const DriverOptions& options) : connections_(connect(options.server, options.contenders)) {
    for (const auto& connection : connections_)
      locks_.push_back(
          std::make_unique<Lock>(*connection, options.root + "/" + options.workload, lock_options(options)));
  }

  void run(long cycles) override {
    left_ = cycles;
    wakeups_ = 0;
    turns_.start(cycles);
    std::vector<std::thread> threads;
    for (const auto& lock : locks_) threads.emplace_back([this, &lock = *lock] { contend(lock); });
    for (std::thread& thread : threads) thread.join();
  }

  std::map<std::string, double> figures() const override { return {{"wakeups", static_cast<double>(wakeups_)}}; }

 private:
  /// The create of a simple lock would follow right behind the removal, before anybody else hears of that: it would
  /// never be handed over.
  static constexpr bool kOvertakes = std::is_same_v<Lock, zkrecipes::SimpleLock>;

  void contend(Lock& lock) {
    while (left_.fetch_sub(1) > 0) {
      long turn = 0;
      {
        const zkrecipes::Hold hold = lock.acquire();
        wakeups_ += hold.cost().wakeups;
        if (kOvertakes) turn = turns_.take();
      }
      if (kOvertakes && locks_.size() > 1) turns_.await_later(turn);
    }
  }

  const std::vector<std::unique_ptr<zkrecipes::Connection>> connections_;
  std::vector<std::unique_ptr<Lock>> locks_;
  std::atomic<long> left_{0};
  std::atomic<long> wakeups_{0};
  Turns turns_;
};

class Drain : public Workload {
 public:
  explicit Drain(const DriverOptions& options)
      : root_(options.root),
        holder_connection_(connect(options.server)),
        connections_(connect(options.server, options.contenders)),
        holder_(*holder_connection_, root_ + "/drain") {
    for (const auto& connection : connections_)
      mutexes_.push_back(std::make_unique<zkrecipes::FairMutex>(*connection, root_ + "/drain", lock_options(options)));
  }

  void prepare(long cycles) override {
    hold_ = holder_.acquire();
    left_.start(cycles);
    wakeups_ = 0;
    line_.clear();
    line_.resize(static_cast<std::size_t>(cycles));
    for (std::size_t i = 0; i < line_.size(); ++i) {
      line_[i] = mutexes_[i % mutexes_.size()]->acquire_async();
      line_[i].on_ready([this](zkrecipes::AcquireResult result) {
        {
          const zkrecipes::Hold hold = std::move(result).value();
          wakeups_ += hold.cost().wakeups;
        }
        left_.count();
      });
    }
    for (const auto& connection : connections_) await_replies(*connection, root_);
  }

  void run(long /*cycles*/) override {
    hold_ = {};
    left_.wait();
  }

  std::map<std::string, double> figures() const override { return {{"wakeups", static_cast<double>(wakeups_)}}; }

 private:
  const std::string root_;
  // Before the connections, so that these are closed first: their callbacks use all of them.
  std::vector<zkrecipes::PendingHold> line_;
  Countdown left_;
  std::atomic<long> wakeups_{0};
  const std::unique_ptr<zkrecipes::Connection> holder_connection_;
  const std::vector<std::unique_ptr<zkrecipes::Connection>> connections_;
  zkrecipes::FairMutex holder_;
  std::vector<std::unique_ptr<zkrecipes::FairMutex>> mutexes_;
  zkrecipes::Hold hold_;
};

}  // namespace

std::unique_ptr<Workload> hand_over(const DriverOptions& options) {
  if (is_simple(options)) return std::make_unique<HandOver<zkrecipes::SimpleLock>>(options);
  return std::make_unique<HandOver<zkrecipes::FairMutex>>(options);
}

std::unique_ptr<Workload> drain(const DriverOptions& options) {
  return std::make_unique<Drain>(options);
}

}  // namespace bench
