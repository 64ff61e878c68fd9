// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/thread/condition_variable.hpp>
#include <boost/thread/mutex.hpp>
#include <boost/thread/thread_only.hpp>
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
  /// See PendingHold::on_ready().
  void on_ready(std::function<void()> callback);

  /// Waits until `deadline`; then leaves and returns nothing. A Boost.Thread interruption leaves, too. Empty hold: the
  /// ticket has ended without one. Throws what it has ended with.
  std::optional<Hold> wait_until(Clock::time_point deadline);
  /// The same, as long as the connection is up: leaves and returns nothing when it is not.
  std::optional<Hold> wait_while_connected();
  /// Waits for ever. Throws std::logic_error inside a callback unless ready().
  Hold get();

  /// Ready with Cancelled, unless it has failed already; a hold that nobody has taken is released. The callback is
  /// called as for any other outcome.
  void cancel() noexcept;
  /// Cancels without a callback: when this returns the callback is destroyed and neither runs nor will run, unless this
  /// thread is inside it. Waits for a callback that is running on its thread.
  void drop() noexcept;

 private:
  enum class State { waiting, ready, taken };
  using Lock = boost::unique_lock<boost::mutex>;
  void finish(Outcome outcome);
  bool wait_until(Lock& lock, Clock::time_point deadline);
  std::optional<Hold> leave(Lock& lock);
  Hold take();
  void post_callback();
  void run_callback();

  const std::shared_ptr<connection::Client> client_;
  const std::shared_ptr<Ticket> ticket_;
  const std::string path_;

  mutable boost::mutex mutex_;  // Boost's, because waiting is interruptible
  boost::condition_variable changed_;
  // All below: guarded by mutex_.
  State state_ = State::waiting;
  Outcome outcome_;
  std::function<void()> on_ready_;  // not called yet
  int callbacks_posted_ = 0;        // tasks that will look for on_ready_
  bool dropped_ = false;            // takes no callback any more
  boost::thread::id callback_runs_on_;
};

}  // namespace zkrecipes::recipes
