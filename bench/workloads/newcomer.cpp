// SPDX-License-Identifier: Apache-2.0
#include "bench/workloads/newcomer.h"

#include <chrono>
#include <zkrecipes/fair_mutex.h>

#include "bench/workloads/connect.h"
#include "bench/workloads/lock_kinds.h"

namespace bench {

namespace {

class Newcomer : public Workload {
 public:
  explicit Newcomer(const DriverOptions& options)
      : root_(options.root),
        retaining_connection_(connect(options.server)),
        newcomer_connection_(connect(options.server)),
        retaining_mutex_(*retaining_connection_, root_ + "/newcomer", retaining()),
        newcomer_mutex_(*newcomer_connection_, root_ + "/newcomer") {}

  void run(long cycles) override {
    measured_ = {};
    for (long i = 0; i < cycles; ++i) {
      leave_it_idle();
      const auto started = std::chrono::steady_clock::now();
      zkrecipes::Hold hold = newcomer_mutex_.acquire();
      measured_ += std::chrono::steady_clock::now() - started;
      hold.release();
    }
  }

  std::optional<double> measured_seconds() const override { return measured_.count(); }

 private:
  /// On return the lock is retained and idle, and its owner would hear of a newcomer.
  void leave_it_idle() {
    retaining_mutex_.lock();
    retaining_mutex_.unlock();
    await_replies(*retaining_connection_, root_);
  }

  const std::string root_;
  const std::unique_ptr<zkrecipes::Connection> retaining_connection_;
  const std::unique_ptr<zkrecipes::Connection> newcomer_connection_;
  zkrecipes::FairMutex retaining_mutex_;
  zkrecipes::FairMutex newcomer_mutex_;
  std::chrono::duration<double> measured_{};
};

}  // namespace

std::unique_ptr<Workload> newcomer(const DriverOptions& options) {
  return std::make_unique<Newcomer>(options);
}

}  // namespace bench
