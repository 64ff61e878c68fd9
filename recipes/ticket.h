// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <functional>
#include <memory>

namespace zkrecipes::recipes {

class HeldNode;

/// How an attempt to get a lock ended: with a hold, with an error, or (an attempt that does not queue) with neither.
struct Outcome {
  std::shared_ptr<HeldNode> held;
  std::exception_ptr error;
};

/// One attempt to get a lock: join, wait for the turn, leave. Driven by completions, so that waiting needs no thread.
class Ticket {
 public:
  using OutcomeHandler = std::function<void(Outcome)>;

  virtual ~Ticket() = default;
  /// Once. `done` is called once, on a thread of the library, unless leave() comes first.
  virtual void join(OutcomeHandler done) = 0;
  /// Gives up: `done` will not be called, and whatever node there is or still comes is removed in the background.
  /// False when the outcome is decided already; `done` then was or will be called.
  virtual bool leave() = 0;
};

/// A ticket may queue up, or just see whether the lock is free.
enum class Patience { queue, try_once };

}  // namespace zkrecipes::recipes
