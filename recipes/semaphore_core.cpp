// SPDX-License-Identifier: Apache-2.0
#include "recipes/semaphore_core.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace zkrecipes::detail {

namespace {

// Below this many, looking for acquires that have finished is not worth it.
constexpr std::size_t kFew = 8;

int check_permits(int permits) {
  if (permits >= 1) return permits;
  throw std::invalid_argument("zkrecipes: a semaphore needs at least one permit, not " + std::to_string(permits));
}

void check_demand(const std::string& path, int wanted, int permits) {
  if (wanted >= 1 && wanted <= permits) return;
  throw std::invalid_argument("zkrecipes: semaphore " + path + ": cannot acquire " + std::to_string(wanted) +
                              " permits, it has " + std::to_string(permits) +
                              (wanted > permits ? "; set_permits() raises that, in each client" : ""));
}

}  // namespace

SemaphoreCore::SemaphoreCore(const std::shared_ptr<Client>& client, std::shared_ptr<const SemaphoreSpec> spec,
                             LockInfoPtr observed_as, int permits)
    : LockCore(client, spec->path, nullptr, std::move(observed_as)),
      spec_(std::move(spec)),
      permits_(check_permits(permits)),
      forget_at_(kFew) {}

SemaphoreCore::~SemaphoreCore() = default;

void SemaphoreCore::check_wanted(int wanted) const {
  check_demand(path(), wanted, permits());
}

void SemaphoreCore::set_permits(int permits) {
  check_permits(permits);
  if (client()->in_forked_child()) client()->check_usable();  // throws; the mutex may have been held at the fork
  std::vector<std::shared_ptr<Acquisition>> told;             // destroyed without the mutex
  {
    // The mutex is kept, so that all acquires hear of two changes in the same order. An acquire never asks for it.
    const MutexLock lock(mutex_);
    permits_ = permits;
    for (const auto& one : started_) {
      auto acquisition = one.lock();
      if (!acquisition) continue;
      acquisition->tell(event::PermitsChanged{permits});
      told.push_back(std::move(acquisition));
    }
  }
  for (const auto& acquisition : told) acquisition->tell_observer();
}

std::shared_ptr<Acquisition> SemaphoreCore::start(Patience patience, const StopToken& stop, int wanted) {
  const PermitDemand demand{wanted, permits()};
  check_demand(path(), demand.wanted, demand.permits);
  auto acquisition = Acquisition::start(client(), std::make_unique<SemaphoreFlow>(spec_, patience, demand), patience,
                                        path(), stop, nullptr, observe());
  {
    const MutexLock lock(mutex_);
    // The number may have changed before the acquire was in the list.
    if (permits_ != demand.permits) acquisition->tell(event::PermitsChanged{permits_});
    if (started_.size() >= forget_at_) forget_the_finished();
    started_.push_back(acquisition);
  }
  acquisition->tell_observer();
  return acquisition;
}

void SemaphoreCore::forget_the_finished() {
  const auto finished = [](const std::weak_ptr<Acquisition>& one) { return one.expired(); };
  started_.erase(std::remove_if(started_.begin(), started_.end(), finished), started_.end());
  forget_at_ = std::max(kFew, 2 * started_.size());
}

}  // namespace zkrecipes::detail
