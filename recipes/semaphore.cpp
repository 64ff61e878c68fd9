// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/semaphore.h"

#include <stdexcept>
#include <utility>

#include "recipes/make_core.h"

namespace zkrecipes {

Semaphore::Semaphore(Connection& connection, const std::string& path, int permits, const LockOptions& options) {
  if (options.version_token)
    throw std::invalid_argument("zkrecipes: permits are held together, so a count of holds would order nothing");
  core_ = detail::make_semaphore_core(client_of(connection), path, permits, options);
}

Semaphore::~Semaphore() = default;

Hold Semaphore::acquire(int permits) {
  core_->check_wanted(permits);
  return core_->acquire(permits);
}

AcquireResult Semaphore::acquire(int permits, const StopToken& stop) {
  core_->check_wanted(permits);
  return core_->acquire(stop, permits);
}

AcquireResult Semaphore::try_acquire(int permits) {
  core_->check_wanted(permits);
  return core_->try_acquire(permits);
}

AcquireResult Semaphore::acquire_until(int permits, Clock::time_point deadline, const StopToken& stop) {
  core_->check_wanted(permits);
  return core_->try_acquire_until(deadline, stop, permits);
}

PendingHold Semaphore::acquire_async(int permits, const AcquireOptions& options) {
  core_->check_wanted(permits);
  return core_->acquire_async(options, permits);
}

int Semaphore::permits() const {
  return core_->permits();
}

void Semaphore::set_permits(int permits) {
  core_->set_permits(permits);
}

}  // namespace zkrecipes
