// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/exclusive_lock.h"

#include <utility>

#include "recipes/lock_core.h"

namespace zkrecipes {

ExclusiveLock::ExclusiveLock(std::unique_ptr<detail::LockCore> core) noexcept : core_(std::move(core)) {}

ExclusiveLock::~ExclusiveLock() = default;

Hold ExclusiveLock::acquire() {
  return core_->acquire();
}

AcquireResult ExclusiveLock::acquire(const StopToken& stop) {
  return core_->acquire(stop);
}

AcquireResult ExclusiveLock::try_acquire() {
  return core_->try_acquire();
}

AcquireResult ExclusiveLock::acquire_until(Clock::time_point deadline, const StopToken& stop) {
  return core_->try_acquire_until(deadline, stop);
}

PendingHold ExclusiveLock::acquire_async(const AcquireOptions& options) {
  return core_->acquire_async(options);
}

void ExclusiveLock::lock() {
  static_cast<void>(lock(StopToken()));
}

bool ExclusiveLock::lock(const StopToken& stop) {
  core_->refuse_if_mine("this thread has locked it already");
  return core_->lock(stop);
}

bool ExclusiveLock::try_lock() {
  return core_->try_lock();
}

bool ExclusiveLock::lock_until(Clock::time_point deadline) {
  return core_->try_lock_until(deadline);
}

void ExclusiveLock::unlock() noexcept {
  core_->unlock();
}

bool ExclusiveLock::is_held() const noexcept {
  return core_->is_held();
}

FencingToken ExclusiveLock::fencing_token() const {
  return core_->fencing_token();
}

std::string ExclusiveLock::node() const {
  return core_->node();
}

Subscription ExclusiveLock::on_lost(std::function<void()> callback) {
  return core_->on_lost(std::move(callback));
}

}  // namespace zkrecipes
