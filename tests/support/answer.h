// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <gtest/gtest.h>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace zkrecipes::testing {

/// How long tests wait for what must happen: far longer than it takes, so that a loaded machine fails none.
inline constexpr std::chrono::seconds kLimit{30};

/// The one answer that an asynchronous call owes. Give handler() to the call, then wait with get(). A second answer is
/// a failure of the test. Copies share the answer; it may outlive the test.
template <class... Values>
class Answer {
 public:
  using Value = std::tuple<Values...>;

  auto handler() const {
    return [state = state_](Values... values) {
      std::lock_guard<std::mutex> lock(state->mutex);
      if (state->calls++ > 0) ADD_FAILURE() << "a call was completed twice";
      state->value.emplace(std::move(values)...);
      state->changed.notify_all();
    };
  }

  bool ready() const { return calls() > 0; }
  int calls() const {
    std::lock_guard<std::mutex> lock(state_->mutex);
    return state_->calls;
  }
  bool wait(std::chrono::milliseconds limit = kLimit) const {
    std::unique_lock<std::mutex> lock(state_->mutex);
    return state_->changed.wait_for(lock, limit, [this] { return state_->calls > 0; });
  }
  /// Throws std::runtime_error when no answer is received in time.
  Value get(std::chrono::milliseconds limit = kLimit) const {
    if (!wait(limit)) throw std::runtime_error("a call was not completed in time");
    std::lock_guard<std::mutex> lock(state_->mutex);
    return *state_->value;
  }
  template <std::size_t I = 0>
  auto part(std::chrono::milliseconds limit = kLimit) const {
    return std::get<I>(get(limit));
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    int calls = 0;               // guarded by mutex
    std::optional<Value> value;  // guarded by mutex
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace zkrecipes::testing
