// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/simple_lock.h"

#include <stdexcept>
#include <utility>

#include "recipes/lock_core.h"
#include "recipes/simple_ticket.h"

namespace zkrecipes {

SimpleLock::SimpleLock(Connection& connection, std::string path, LockOptions options) {
  if (options.version_token)
    throw std::invalid_argument("zkrecipes: SimpleLock has no node that could count versions; use FairMutex");
  auto client = client_of(connection);
  core_ = std::make_unique<recipes::LockCore>(client, path, [client, path, options](recipes::Patience patience) {
    return std::make_shared<recipes::SimpleTicket>(client, path, options, patience);
  });
}

SimpleLock::~SimpleLock() = default;

Hold SimpleLock::acquire() {
  return core_->acquire();
}

std::optional<Hold> SimpleLock::try_acquire() {
  return core_->try_acquire();
}

std::optional<Hold> SimpleLock::try_acquire_until(Clock::time_point deadline) {
  return core_->try_acquire_until(deadline);
}

PendingHold SimpleLock::acquire_async() {
  return core_->acquire_async();
}

void SimpleLock::lock() {
  core_->lock();
}

bool SimpleLock::try_lock() {
  return core_->try_lock();
}

bool SimpleLock::lock_until(Clock::time_point deadline) {
  return core_->try_lock_until(deadline);
}

void SimpleLock::unlock() noexcept {
  core_->unlock();
}

bool SimpleLock::is_held() const noexcept {
  return core_->is_held();
}

FencingToken SimpleLock::fencing_token() const {
  return core_->fencing_token();
}

Subscription SimpleLock::on_lost(std::function<void()> callback) {
  return core_->on_lost(std::move(callback));
}

}  // namespace zkrecipes
