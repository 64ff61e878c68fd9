// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "zkrecipes/acquire_result.h"
#include "zkrecipes/connection.h"
#include "zkrecipes/deadline.h"
#include "zkrecipes/hold.h"

namespace zkrecipes {

namespace detail {
class Acquisition;
class HoldAccess;
}  // namespace detail

/// An acquire that is under way. It needs no thread: one thread can wait for thousands. Move-only; moving keeps the
/// place in line and the callback. An empty PendingHold, and one that was moved from, waits for nothing.
///
/// The result goes to one taker: to the callback of on_ready(), or to get().
///
/// Thread-safety: ready(), the waits, on_ready(), get() and cancel() may be called from several threads at once.
/// Moving, assigning and destroying need the object for themselves.
///
/// Lifetime: may outlive the lock object and the Connection that it came from. Destroying it, or assigning over it,
/// leaves the queue (and releases the lock, if it was granted but not taken) and drops the callback: afterwards the
/// callback neither runs nor will run, and what it owns is destroyed. So a callback may use the object that owns the
/// PendingHold.
///
/// Blocking: get(), wait_for() and wait_until() wait for the outcome. The destructor and the assignment wait for a
/// callback that is running, except inside that very callback, which may destroy, move and assign over its own
/// PendingHold. Do not destroy a PendingHold while holding a mutex that its callback needs, as with a thread that is
/// joined.
///
///     zkrecipes::PendingHold turn = mutex.acquire_async();
///     turn.on_ready([](zkrecipes::AcquireResult hold) {
///       if (hold) use(*std::move(hold));
///     });
class PendingHold {
 public:
  PendingHold() noexcept;
  ~PendingHold();
  PendingHold(PendingHold&&) noexcept;
  PendingHold& operator=(PendingHold&&) noexcept;

  /// True when the acquire has ended in whatever way; get() will not wait.
  bool ready() const noexcept;
  /// Waits until ready(), and returns false when the time is over first; the acquire then goes on. Both throw
  /// std::logic_error on an empty PendingHold, and inside a callback unless ready(). Interruption points of
  /// Boost.Thread; an interruption does not end the acquire.
  template <class Rep, class Period>
  bool wait_for(const std::chrono::duration<Rep, Period>& timeout) {
    return wait_by(deadline_after(timeout));
  }
  template <class AnyClock, class Duration>
  bool wait_until(const std::chrono::time_point<AnyClock, Duration>& deadline) {
    return wait_by(to_deadline(deadline));
  }
  /// `callback` is called once, on a thread of the connection or by its executor and never inside this call, when
  /// ready() has become true; also if it is already, and also after the connection is closed. The callback
  /// owns the result. Keep the PendingHold until then: destroying it drops the callback. A second callback replaces the
  /// first, if that was not called yet; an empty one removes it. An exception that it throws is logged and dropped.
  /// Throws std::logic_error if the result was already taken, or a thread waits for it in get().
  void on_ready(std::function<void(AcquireResult)> callback) &;
  /// Waits, and hands the hold over. Works once. Throws what AcquireResult::value() throws: Error, ConnectionClosed,
  /// NotAuthorized or Cancelled; std::logic_error if the result is the callback's or was already taken, or inside a
  /// callback unless ready(). A Boost.Thread interruption ends the acquire.
  Hold get();
  /// Leaves the queue: the status is `stopped`, and get() throws Cancelled. A hold that was already granted, and not
  /// taken, is released. Cancelling is an outcome like others: the callback is called, if it was not called before. To
  /// drop the callback, too, destroy the PendingHold.
  void cancel() noexcept;

 private:
  friend class detail::HoldAccess;
  explicit PendingHold(std::shared_ptr<detail::Acquisition> acquisition) noexcept;
  bool wait_by(Clock::time_point deadline);
  std::shared_ptr<detail::Acquisition> acquisition_;
};

}  // namespace zkrecipes
