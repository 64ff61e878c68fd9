// SPDX-License-Identifier: Apache-2.0
//
// ZooKeeper's C client without a library above it: the limit of what a lock can reach with it.
#include <atomic>
#include <thread>
#include <vector>

#include "bench/driver/driver.h"
#include "bench/peers/raw_c/raw_lock.h"
#include "bench/peers/raw_c/raw_many_locks.h"

namespace bench {

namespace {

class Uncontended : public Workload {
 public:
  Uncontended(const DriverOptions& options, void (RawLock::*unlock)())
      : lock_(options.server, options.root + "/" + options.workload), unlock_(unlock) {}

  void run(long cycles) override {
    for (long i = 0; i < cycles; ++i) {
      lock_.lock();
      (lock_.*unlock_)();
    }
  }

 private:
  RawLock lock_;
  void (RawLock::*const unlock_)();
};

class HandOver : public Workload {
 public:
  explicit HandOver(const DriverOptions& options) {
    for (int i = 0; i < options.contenders; ++i)
      locks_.push_back(std::make_unique<RawLock>(options.server, options.root + "/handover"));
  }

  void run(long cycles) override {
    std::atomic<long> left(cycles);
    std::vector<std::thread> threads;
    for (const auto& lock : locks_)
      threads.emplace_back([&left, &lock = *lock] {
        while (left.fetch_sub(1) > 0) {
          lock.lock();
          lock.unlock();
        }
      });
    for (std::thread& thread : threads) thread.join();
  }

 private:
  std::vector<std::unique_ptr<RawLock>> locks_;
};

}  // namespace

}  // namespace bench

int main(int argc, char** argv) {
  using bench::DriverOptions;
  using bench::RawLock;
  return bench::drive(
      argc, argv, "raw_c",
      {{"lock",
        [](const DriverOptions& options) { return std::make_unique<bench::Uncontended>(options, &RawLock::unlock); }},
       {"confirmed",
        [](const DriverOptions& options) {
          return std::make_unique<bench::Uncontended>(options, &RawLock::unlock_confirmed);
        }},
       {"many", [](const DriverOptions& options) { return std::make_unique<bench::RawManyLocks>(options); }},
       {"handover", [](const DriverOptions& options) { return std::make_unique<bench::HandOver>(options); }}});
}
