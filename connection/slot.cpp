// SPDX-License-Identifier: Apache-2.0
#include "connection/slot.h"

namespace zkrecipes::detail {

bool Slot::connected() const noexcept {
  if (in_forked_child()) return false;
  MutexLock lock(mutex_);
  return callback_ != nullptr;
}

std::shared_ptr<const void> Slot::enter() noexcept {
  if (in_forked_child()) return nullptr;
  MutexLock lock(mutex_);
  if (callback_) inside_.push_back(std::this_thread::get_id());
  return callback_;
}

void Slot::leave(std::shared_ptr<const void> callback) noexcept {
  callback = nullptr;  // what it owns is destroyed before disconnect_and_wait() returns
  {
    MutexLock lock(mutex_);
    inside_.erase(std::find(inside_.begin(), inside_.end(), std::this_thread::get_id()));
  }
  left_.notify_all();
}

void Slot::disconnect() noexcept {
  if (in_forked_child()) return;
  std::shared_ptr<const void> callback;
  {
    MutexLock lock(mutex_);
    if (!callback_) return;
    callback = std::exchange(callback_, nullptr);
    inside_.push_back(std::this_thread::get_id());
  }
  leave(std::move(callback));
}

void Slot::disconnect_and_wait() noexcept {
  disconnect();
  if (in_forked_child()) return;
  const auto self = std::this_thread::get_id();
  MutexLock lock(mutex_);
  // Inside the callback another call of it, on another thread, may be waiting for this one.
  while (!inside_.empty() && std::find(inside_.begin(), inside_.end(), self) == inside_.end()) left_.wait(lock);
}

}  // namespace zkrecipes::detail

namespace zkrecipes {

Subscription::Subscription() noexcept = default;

Subscription::Subscription(std::shared_ptr<detail::Slot> slot) noexcept : slot_(std::move(slot)) {}

Subscription::~Subscription() {
  if (!slot_) return;
  // Destroying a condition that a thread of the parent waits for would wait for that thread.
  if (slot_->in_forked_child())
    static_cast<void>(new std::shared_ptr<detail::Slot>(std::move(slot_)));
  else
    slot_->disconnect();
}

Subscription::Subscription(Subscription&&) noexcept = default;

Subscription& Subscription::operator=(Subscription&& other) noexcept {
  Subscription incoming(std::move(other));
  slot_.swap(incoming.slot_);
  return *this;
}

bool Subscription::connected() const noexcept {
  return slot_ && slot_->connected();
}

// A callback may own its own Subscription, which then ends inside these calls: the copy keeps the slot until their end.

void Subscription::disconnect() noexcept {
  if (const auto slot = slot_) slot->disconnect();
}

void Subscription::disconnect_and_wait() noexcept {
  if (const auto slot = slot_) slot->disconnect_and_wait();
}

}  // namespace zkrecipes
