// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

namespace zkrecipes {

namespace detail {
class Slot;
}

/// Keeps a callback subscribed (Connection::on_state_change(), Hold::on_lost(), on_lost() of the lock types). The
/// destructor disconnects. Move-only; an empty Subscription, and one that was moved from, keeps nothing.
///
/// The callback, with all that it owns, is destroyed when it is disconnected, or when the call that is running at that
/// moment ends.
///
/// Thread-safety: connected(), disconnect() and disconnect_and_wait() may be called from several threads at once, and
/// from any callback. Moving, assigning and destroying need the object for themselves.
///
/// Lifetime: may outlive the Hold, the lock and the Connection that it came from. May be destroyed inside any callback,
/// its own included; the destructor does not wait for a callback that is running. In the child of a fork() no call
/// does anything.
///
/// Blocking: only disconnect_and_wait() does. Do not call it while holding a mutex that the callback needs, nor in two
/// callbacks that wait for each other: as with threads that are joined, neither would end.
///
///     class Worker {
///       ~Worker() { lost_.disconnect_and_wait(); }  // from here on the callback does not use this object
///       zkrecipes::Subscription lost_ = hold_.on_lost([this] { stop_working(); });
///     };
class Subscription {
 public:
  Subscription() noexcept;
  ~Subscription();  ///< disconnect()
  Subscription(Subscription&&) noexcept;
  Subscription& operator=(Subscription&&) noexcept;  ///< disconnects what it kept

  /// Whether the callback may still be started. False when empty or disconnected, after the one call of an on_lost(),
  /// and when what was subscribed to no longer exists.
  bool connected() const noexcept;

  /// Afterwards the callback is not started any more. It may be running on another thread.
  void disconnect() noexcept;

  /// The same, and when this returns the callback is not running and what it owned is destroyed. Inside the callback
  /// itself it does not wait.
  void disconnect_and_wait() noexcept;

 private:
  friend class detail::Slot;
  explicit Subscription(std::shared_ptr<detail::Slot> slot) noexcept;
  std::shared_ptr<detail::Slot> slot_;
};

}  // namespace zkrecipes
