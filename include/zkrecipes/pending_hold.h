// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "zkrecipes/hold.h"

namespace zkrecipes {

namespace recipes {
class Acquisition;
}

/// A place in line. Needs no thread: one thread can wait for thousands. Move-only.
///
/// Destroying it, or assigning over it, leaves the queue (and releases the lock, if it was granted but not taken) and
/// drops the callback: afterwards the callback neither runs nor will run, and what it owns is destroyed. So a callback
/// may use the object that owns the PendingHold. Moving keeps place and callback.
///
/// For that, the destructor and the assignment wait for a callback that is running. They do not wait inside that very
/// callback, which may destroy, move and assign over its own PendingHold. Do not destroy a PendingHold while holding a
/// mutex that its callback needs, as with a thread that is joined.
///
///     zkrecipes::PendingHold turn = mutex.acquire_async();
///     turn.on_ready([&] { use(turn.get()); });  // turn outlives its callback, or the callback is never called
class PendingHold {
 public:
  PendingHold() noexcept;
  explicit PendingHold(std::shared_ptr<recipes::Acquisition> acquisition) noexcept;  ///< for the recipes
  ~PendingHold();
  PendingHold(PendingHold&&) noexcept;
  PendingHold& operator=(PendingHold&&) noexcept;

  /// True when get() will not wait: granted, failed or cancelled.
  bool ready() const noexcept;
  /// `callback` is called once, on a thread of the connection and never inside this call, when ready() has become true;
  /// also if it is already, and also after the connection is closed. A second callback replaces the first, if that was
  /// not called yet; an empty one removes it. An exception that it throws is logged and dropped.
  void on_ready(std::function<void()> callback);
  /// Waits, and hands the hold over: once. Throws Error, ConnectionClosed, NotAuthorized or Cancelled;
  /// std::logic_error if there is nothing to get, or inside a callback unless ready().
  Hold get();
  /// Leaves the queue; get() then throws Cancelled. A hold that was already granted is released. This is an outcome
  /// like others: the callback is called, if it was not before. To be rid of the callback, too, destroy the
  /// PendingHold.
  void cancel() noexcept;

 private:
  std::shared_ptr<recipes::Acquisition> acquisition_;
};

}  // namespace zkrecipes
