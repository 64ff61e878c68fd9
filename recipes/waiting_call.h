// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "connection/interruptible_mutex.h"

namespace zkrecipes::detail {

/// Waits for the one answer of an asynchronous call; an interruption point of Boost.Thread. Copies share the answer, so
/// whoever delivers it may do so when nobody waits any more.
template <class Answer>
class WaitingCall {
 public:
  void deliver(Answer answer) const {
    InterruptibleLock lock(state_->mutex);
    state_->answer = std::move(answer);
    state_->arrived.notify_all();
  }
  Answer wait() const { return *wait_until(Clock::time_point::max()); }
  /// Nothing when the time is over first.
  std::optional<Answer> wait_until(Clock::time_point deadline) const {
    InterruptibleLock lock(state_->mutex);
    while (!state_->answer)
      if (!wait_by(state_->arrived, lock, deadline)) break;
    return std::exchange(state_->answer, std::nullopt);
  }

 private:
  struct State {
    InterruptibleMutex mutex;
    InterruptibleCondition arrived;
    std::optional<Answer> answer ZKR_GUARDED_BY(mutex);
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace zkrecipes::detail
