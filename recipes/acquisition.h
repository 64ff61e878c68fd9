// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/thread/condition_variable.hpp>
#include <boost/thread/mutex.hpp>
#include <exception>
#include <functional>
#include <memory>
#include <optional>

#include "connection/client.h"
#include "recipes/hold.h"
#include "recipes/ticket.h"

namespace zkrecipes::recipes {

/// A ticket and whoever waits for its outcome: a thread, a callback, or nobody any more. Thread-safe.
class Acquisition : public std::enable_shared_from_this<Acquisition> {
 public:
  Acquisition(std::shared_ptr<connection::Client> client, std::shared_ptr<Ticket> ticket, std::string path);
  ~Acquisition();

  void start();
  bool ready() const;
  void on_ready(std::function<void()> callback);

  /// Waits until `deadline`; then leaves and returns nothing. A Boost.Thread interruption leaves, too. Empty hold: the
  /// ticket has ended without one. Throws what it has ended with.
  std::optional<Hold> wait_until(Clock::time_point deadline);
  /// Waits for ever. Throws std::logic_error on the callback thread unless ready().
  Hold get();

  /// Ready with Cancelled, unless it has failed already; a hold that nobody has taken is released.
  void cancel() noexcept;

 private:
  enum class State { waiting, ready, taken };
  void finish(Outcome outcome);
  Hold take();

  const std::shared_ptr<connection::Client> client_;
  const std::shared_ptr<Ticket> ticket_;
  const std::string path_;

  mutable boost::mutex mutex_;  // Boost's, because waiting is interruptible
  boost::condition_variable changed_;
  // All below: guarded by mutex_.
  State state_ = State::waiting;
  Outcome outcome_;
  std::function<void()> on_ready_;
};

}  // namespace zkrecipes::recipes
