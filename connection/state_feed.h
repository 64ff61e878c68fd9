// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "connection/callback_lane.h"
#include "connection/interruptible_mutex.h"
#include "connection/log.h"
#include "connection/slot.h"
#include "zkrecipes/connection.h"

namespace zkrecipes::detail {

/// The state of a connection, for those who ask, subscribe or wait. Thread-safe, except that enter() is called by one
/// thread at a time.
class StateFeed {
 public:
  StateFeed(CallbackLane& lane, LogPtr log) : lane_(lane), log_(std::move(log)) {}

  ConnectionState state() const noexcept { return state_.load(); }
  /// Subscribers are called on the lane; `keep_alive` is kept until they have been, or have been handed over.
  void enter(ConnectionState state, const std::shared_ptr<const void>& keep_alive);

  /// States that are entered after this call, in order, each once.
  Subscription subscribe(std::function<void(ConnectionState)> callback);

  /// Waits until the state is connected or closed, but not longer than until `deadline`, and returns the state that it
  /// has seen last, which may be another one by then. An interruption point of Boost.Thread.
  ConnectionState wait_until_decided(Clock::time_point deadline);

  /// The first attempt to connect has failed. It has ended, too, when a state was entered.
  void end_first_attempt();
  /// Waits until it has ended, but not longer than until `deadline`. An interruption point of Boost.Thread if it waits.
  void wait_for_first_attempt(Clock::time_point deadline);

 private:
  CallbackLane& lane_;
  const LogPtr log_;
  std::atomic<ConnectionState> state_{ConnectionState::connecting};
  std::atomic<bool> first_attempt_over_{false};

  InterruptibleMutex mutex_;
  InterruptibleCondition wake_;
  Subscribers<ConnectionState> subscribers_ ZKR_GUARDED_BY(mutex_);
};

}  // namespace zkrecipes::detail
