// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "zkrecipes/connection.h"
#include "zkrecipes/fencing_token.h"

namespace zkrecipes {

namespace recipes {
class HeldNode;
}

/// What a hold cost to get.
struct AcquisitionCost {
  std::chrono::nanoseconds waited{};
  int queue_position = 0;  ///< how many stood ahead on joining
  int wakeups = 0;         ///< watch events that came while waiting
  int requests = 0;        ///< sent for it, retries after faults not counted
};

/// What you have when you hold a lock, and what tells you when it is gone. Move-only; the destructor releases without
/// waiting. Its members may be used from several threads at once, moves and the destructor excepted.
///
/// A hold is valid from the grant until it is released, until valid_until() passes without news from the server, until
/// the session is over or until somebody deletes its node. It never becomes valid again.
class Hold {
 public:
  Hold() noexcept;
  explicit Hold(std::shared_ptr<recipes::HeldNode> node) noexcept;  ///< for the recipes
  ~Hold();
  Hold(Hold&&) noexcept;
  Hold& operator=(Hold&&) noexcept;  ///< releases what it held

  /// Not empty, not released. Says nothing about validity.
  explicit operator bool() const noexcept;

  bool is_valid() const noexcept;
  /// Until when nobody else can have the lock, on this machine's clock. Moves on while the server answers. Not later
  /// than the loss of a lost hold, nor than the release of a released one.
  Clock::time_point valid_until() const noexcept;
  /// Fixed for the life of the hold, also after it is lost.
  FencingToken token() const noexcept;
  const std::string& node() const noexcept;
  AcquisitionCost cost() const noexcept;

  /// Called at most once, on a thread of the connection, as soon as validity is over; not on release, and not delayed
  /// by an on_ready() that takes long. A subscription to a hold that is already lost is called, too, also after the
  /// connection is closed, and never inside this call. A lost hold is also logged, as a warning with node, token and
  /// reason.
  [[nodiscard]] Subscription on_lost(std::function<void()> callback) const;

  /// Waits until the server has confirmed. Throws Error(session_lost) if the hold was lost before that,
  /// ConnectionClosed if the connection was. Does nothing on an empty or released hold.
  void release();

 private:
  friend class ReadWriteLock;
  std::shared_ptr<recipes::HeldNode> node_;
};

}  // namespace zkrecipes
