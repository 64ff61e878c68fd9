// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/fair_mutex.h"

#include <utility>

#include "recipes/lock_core.h"
#include "recipes/queue_core.h"

namespace zkrecipes {

FairMutex::FairMutex(Connection& connection, std::string path, LockOptions options) {
  core_ = recipes::make_queue_core(client_of(connection), path, recipes::NodeKind::lock, options);
}

FairMutex::~FairMutex() = default;

Hold FairMutex::acquire() {
  return core_->acquire();
}

std::optional<Hold> FairMutex::try_acquire() {
  return core_->try_acquire();
}

std::optional<Hold> FairMutex::try_acquire_until(Clock::time_point deadline) {
  return core_->try_acquire_until(deadline);
}

PendingHold FairMutex::acquire_async() {
  return core_->acquire_async();
}

void FairMutex::lock() {
  core_->lock();
}

bool FairMutex::try_lock() {
  return core_->try_lock();
}

bool FairMutex::lock_until(Clock::time_point deadline) {
  return core_->try_lock_until(deadline);
}

void FairMutex::unlock() noexcept {
  core_->unlock();
}

bool FairMutex::is_held() const noexcept {
  return core_->is_held();
}

FencingToken FairMutex::fencing_token() const {
  return core_->fencing_token();
}

Subscription FairMutex::on_lost(std::function<void()> callback) {
  return core_->on_lost(std::move(callback));
}

}  // namespace zkrecipes
