// SPDX-License-Identifier: Apache-2.0
#include "connection/state_feed.h"

#include <utility>

namespace zkrecipes::detail {

void StateFeed::enter(ConnectionState state, const std::shared_ptr<const void>& keep_alive) {
  std::vector<std::shared_ptr<CallbackSlot<ConnectionState>>> slots;
  {
    const InterruptibleLock lock(mutex_);
    state_.store(state);
    first_attempt_over_.store(true);
    slots = subscribers_.connected();
  }
  wake_.notify_all();
  for (const auto& slot : slots) lane_.post([slot, state] { slot->call(state); }, keep_alive);
}

Subscription StateFeed::subscribe(std::function<void(ConnectionState)> callback) {
  lane_.start();
  const auto slot =
      std::make_shared<CallbackSlot<ConnectionState>>("a callback of on_state_change", std::move(callback), log_);
  const InterruptibleLock lock(mutex_);
  subscribers_.add(slot);
  return Slot::subscription(slot);
}

void StateFeed::end_first_attempt() {
  if (first_attempt_over_.load()) return;
  {
    const InterruptibleLock lock(mutex_);
    first_attempt_over_.store(true);
  }
  wake_.notify_all();
}

void StateFeed::wait_for_first_attempt(Clock::time_point deadline) {
  if (first_attempt_over_.load()) return;
  InterruptibleLock lock(mutex_);
  for (bool in_time = true; in_time && !first_attempt_over_.load();) in_time = wait_by(wake_, lock, deadline);
}

ConnectionState StateFeed::wait_until_decided(Clock::time_point deadline) {
  const auto decided = [](ConnectionState one) {
    return one == ConnectionState::connected || one == ConnectionState::closed;
  };
  InterruptibleLock lock(mutex_);
  ConnectionState seen = state();
  for (bool in_time = true; in_time && !decided(seen); seen = state()) in_time = wait_by(wake_, lock, deadline);
  return seen;
}

}  // namespace zkrecipes::detail
