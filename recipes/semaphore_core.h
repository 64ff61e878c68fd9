// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "connection/mutex.h"
#include "recipes/lock_core.h"
#include "recipes/semaphore_flow.h"

namespace zkrecipes::detail {

/// The core of a semaphore: knows the number of permits, and the acquires that must hear of another number.
/// Thread-safe.
class SemaphoreCore final : public LockCore {
 public:
  /// `observed_as`: null if nobody observes.
  SemaphoreCore(const std::shared_ptr<Client>& client, std::shared_ptr<const SemaphoreSpec> spec,
                LockInfoPtr observed_as, int permits);
  ~SemaphoreCore() override;

  int permits() const noexcept { return permits_; }
  /// Throws std::invalid_argument if permits < 1.
  void set_permits(int permits);
  /// Throws std::invalid_argument unless an acquire of so many permits can be served.
  void check_wanted(int wanted) const;

 protected:
  std::shared_ptr<Acquisition> start(Patience patience, const StopToken& stop, int wanted) override;

 private:
  void forget_the_finished() ZKR_REQUIRES(mutex_);

  const std::shared_ptr<const SemaphoreSpec> spec_;

  // Changed under the mutex, and read without it: the child of a fork must be refused, not blocked.
  std::atomic<int> permits_;

  Mutex mutex_;
  std::vector<std::weak_ptr<Acquisition>> started_ ZKR_GUARDED_BY(mutex_);  // some of them may have finished
  std::size_t forget_at_ ZKR_GUARDED_BY(mutex_);                            // that many started ones
};

}  // namespace zkrecipes::detail
