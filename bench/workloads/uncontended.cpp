// SPDX-License-Identifier: Apache-2.0
#include "bench/workloads/uncontended.h"

#include <utility>
#include <zkrecipes/fair_mutex.h>
#include <zkrecipes/read_write_lock.h>
#include <zkrecipes/recursive_fair_mutex.h>
#include <zkrecipes/semaphore.h>

#include "bench/workloads/connect.h"
#include "bench/workloads/lock_kinds.h"

namespace bench {

namespace {

/// The same cycle over and over, by one thread on one connection and one lock object.
template <class Lock, class Cycle>
class Repeated : public Workload {
 public:
  template <class... More>
  Repeated(const DriverOptions& options, Cycle cycle, More... more)
      : connection_(connect(options.server, observer(options))),
        lock_(*connection_, options.root + "/" + options.workload, more...),
        cycle_(std::move(cycle)) {}

  /// So that a lock that was given back between two runs, because it was retained for long enough, is there again.
  void prepare(long /*cycles*/) override { cycle_(lock_); }

  void run(long cycles) override {
    for (long i = 0; i < cycles; ++i) cycle_(lock_);
  }

 private:
  const std::unique_ptr<zkrecipes::Connection> connection_;
  Lock lock_;
  const Cycle cycle_;
};

template <class Lock, class Cycle, class... More>
std::unique_ptr<Workload> repeated(const DriverOptions& options, Cycle cycle, More... more) {
  return std::make_unique<Repeated<Lock, Cycle>>(options, std::move(cycle), more...);
}

}  // namespace

std::unique_ptr<Workload> lock_and_unlock(const DriverOptions& options) {
  return repeated<zkrecipes::FairMutex>(
      options,
      [](zkrecipes::FairMutex& mutex) {
        mutex.lock();
        mutex.unlock();
      },
      lock_options(options));
}

std::unique_ptr<Workload> acquire_and_release(const DriverOptions& options) {
  return repeated<zkrecipes::FairMutex>(options, [](zkrecipes::FairMutex& mutex) { mutex.acquire().release(); });
}

std::unique_ptr<Workload> read_lock(const DriverOptions& options) {
  return repeated<zkrecipes::ReadWriteLock>(options, [](zkrecipes::ReadWriteLock& lock) {
    lock.lock_shared();
    lock.unlock_shared();
  });
}

std::unique_ptr<Workload> semaphore_permit(const DriverOptions& options) {
  constexpr int kPermits = 3;
  return repeated<zkrecipes::Semaphore>(
      options, [](zkrecipes::Semaphore& semaphore) { const zkrecipes::Hold permit = semaphore.acquire(); }, kPermits);
}

std::unique_ptr<Workload> reentry(const DriverOptions& options) {
  // Held from the first cycle on, so that each further one is a re-entry.
  return repeated<zkrecipes::RecursiveFairMutex>(options, [](zkrecipes::RecursiveFairMutex& mutex) {
    if (mutex.depth() == 0) mutex.lock();
    mutex.lock();
    mutex.unlock();
  });
}

}  // namespace bench
