// SPDX-License-Identifier: Apache-2.0
#include "recipes/lock_core.h"

#include <glog/logging.h>
#include <utility>

#include "zkrecipes/error.h"

namespace zkrecipes::recipes {

LockCore::LockCore(std::shared_ptr<connection::Client> client, std::string path, TicketFactory make_ticket)
    : client_(std::move(client)), path_(std::move(path)), make_ticket_(std::move(make_ticket)) {
  connection::check_node_path(path_);
  if (path_ == "/") throw std::invalid_argument("zkrecipes: \"/\" cannot be a lock path");
}

std::shared_ptr<Acquisition> LockCore::begin(Patience patience) {
  auto acquisition = std::make_shared<Acquisition>(client_, make_ticket_(patience), path_);
  acquisition->start();
  return acquisition;
}

Hold LockCore::acquire() {
  client_->check_may_block();
  return *begin(Patience::queue)->wait_until(Clock::time_point::max());
}

std::optional<Hold> LockCore::try_acquire() {
  client_->check_may_block();
  if (!client_->is_connected()) return std::nullopt;
  auto hold = begin(Patience::try_once)->wait_while_connected();
  return hold && *hold ? std::move(hold) : std::nullopt;
}

std::optional<Hold> LockCore::try_acquire_until(Clock::time_point deadline) {
  if (deadline <= Clock::now()) return try_acquire();
  client_->check_may_block();
  return begin(Patience::queue)->wait_until(deadline);
}

PendingHold LockCore::acquire_async() {
  client_->check_usable();
  return PendingHold(begin(Patience::queue));
}

void LockCore::lock() {
  keep(acquire());
}

bool LockCore::try_lock() {
  return keep(try_acquire());
}

bool LockCore::try_lock_until(Clock::time_point deadline) {
  return keep(try_acquire_until(deadline));
}

bool LockCore::keep(std::optional<Hold> hold) {
  if (!hold) return false;
  std::lock_guard<std::mutex> lock(mutex_);
  kept_.push_back({std::this_thread::get_id(), std::move(*hold)});
  return true;
}

void LockCore::unlock() noexcept {
  if (client_->in_forked_child()) return;
  Hold released;  // its removal is handed over when it goes out of scope, without the mutex
  std::lock_guard<std::mutex> lock(mutex_);
  for (auto kept = kept_.rbegin(); kept != kept_.rend(); ++kept) {
    if (kept->owner != std::this_thread::get_id()) continue;
    released = std::move(kept->hold);
    kept_.erase(std::next(kept).base());
    return;
  }
  LOG(ERROR) << "zkrecipes: unlock() of " << path_ << ", which this thread has not locked";
}

/// The hold of this thread, else the newest. The mutex is held.
const Hold* LockCore::current() const {
  for (auto kept = kept_.rbegin(); kept != kept_.rend(); ++kept)
    if (kept->owner == std::this_thread::get_id()) return &kept->hold;
  return kept_.empty() ? nullptr : &kept_.back().hold;
}

bool LockCore::is_held() const noexcept {
  std::lock_guard<std::mutex> lock(mutex_);
  const Hold* const hold = current();
  return hold != nullptr && hold->is_valid();
}

FencingToken LockCore::fencing_token() const {
  std::lock_guard<std::mutex> lock(mutex_);
  if (const Hold* const hold = current()) return hold->token();
  throw Error(ErrorCode::not_held, "lock " + path_ + ": fencing_token() without a lock()");
}

Subscription LockCore::on_lost(std::function<void()> callback) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (const Hold* const hold = current()) return hold->on_lost(std::move(callback));
  throw Error(ErrorCode::not_held, "lock " + path_ + ": on_lost() without a lock()");
}

}  // namespace zkrecipes::recipes
