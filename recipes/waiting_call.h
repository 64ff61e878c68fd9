// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/thread/condition_variable.hpp>
#include <boost/thread/mutex.hpp>
#include <memory>
#include <optional>
#include <utility>

namespace zkrecipes::recipes {

/// Waits for the one answer of an asynchronous call; an interruption point of Boost.Thread. Copies share the answer, so
/// whoever delivers it may do so when nobody waits any more.
template <class Answer>
class WaitingCall {
 public:
  void deliver(Answer answer) const {
    boost::lock_guard<boost::mutex> lock(state_->mutex);
    state_->answer = std::move(answer);
    state_->arrived.notify_all();
  }
  Answer wait() const {
    boost::unique_lock<boost::mutex> lock(state_->mutex);
    while (!state_->answer) state_->arrived.wait(lock);
    return std::move(*state_->answer);
  }

 private:
  struct State {
    boost::mutex mutex;
    boost::condition_variable arrived;
    std::optional<Answer> answer;  // guarded by mutex
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace zkrecipes::recipes
