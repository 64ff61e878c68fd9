// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <memory>
#include <thread>

#include "tests/recipes/recipe_test.h"
#include "zkrecipes/asio.h"

namespace zkrecipes::testing {

/// Copyable, as handlers need not be; shared by all copies.
struct Outcome {
  struct State {
    std::atomic<int> calls{0};
    std::exception_ptr error;
    Hold hold;
    std::thread::id thread;
  };
  std::shared_ptr<State> state = std::make_shared<State>();

  /// A handler that can be moved only.
  auto handler() const {
    return [state = state, move_only = std::make_unique<int>(0)](std::exception_ptr error, Hold hold) {
      state->error = std::move(error);
      state->hold = std::move(hold);
      state->thread = std::this_thread::get_id();
      ++state->calls;
    };
  }
  int calls() const { return state->calls; }
  Hold& hold() const { return state->hold; }
  /// Rethrows what the handler was given, if anything.
  void check() const {
    if (state->error) std::rethrow_exception(state->error);
  }
};

class WaitingTest : public ControlledRecipeTest {
 protected:
  static AcquireOptions within(std::chrono::milliseconds time) {
    AcquireOptions options;
    options.deadline = Clock::now() + time;
    return options;
  }
};

}  // namespace zkrecipes::testing
