// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "zkrecipes/hold.h"

namespace zkrecipes {

namespace recipes {
class Acquisition;
}

/// A place in line. Needs no thread: one thread can wait for thousands. Move-only; destroying it leaves the queue (and
/// releases the lock, if it was granted but not taken).
class PendingHold {
 public:
  PendingHold() noexcept;
  explicit PendingHold(std::shared_ptr<recipes::Acquisition> acquisition) noexcept;  ///< for the recipes
  ~PendingHold();
  PendingHold(PendingHold&&) noexcept;
  PendingHold& operator=(PendingHold&&) noexcept;

  /// True when get() will not wait: granted, failed or cancelled.
  bool ready() const noexcept;
  /// `callback` is called once, on the callback thread, when ready() has become true; also if it is already.
  /// A second callback replaces the first, if that was not called yet.
  void on_ready(std::function<void()> callback);
  /// Waits, and hands the hold over: once. Throws Error, ConnectionClosed, NotAuthorized or Cancelled;
  /// std::logic_error if there is nothing to get, or on the callback thread unless ready().
  Hold get();
  /// Leaves the queue; get() then throws Cancelled. A hold that was already granted is released.
  void cancel() noexcept;

 private:
  std::shared_ptr<recipes::Acquisition> acquisition_;
};

}  // namespace zkrecipes
