// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "zkrecipes/connection.h"
#include "zkrecipes/deadline.h"
#include "zkrecipes/fencing_token.h"
#include "zkrecipes/subscription.h"

namespace zkrecipes {

namespace detail {
class HeldNode;
class HoldAccess;
}  // namespace detail

/// What a hold cost to get.
struct AcquisitionCost {
  std::chrono::nanoseconds waited{};
  int queue_position = 0;  ///< contenders ahead on joining
  int wakeups = 0;         ///< watch events received while waiting
  int requests = 0;        ///< sent to get it; retries after faults and removals are not counted
};

/// Proof that its owner holds a lock, and the place to ask whether that is still true. Move-only; an empty Hold, and
/// one that was moved from, holds nothing.
///
/// Validity: a hold is valid from the grant until it is released, until valid_until() passes without news from the
/// server, until the session is over or until somebody deletes its node. It never becomes valid again.
///
/// Thread-safety: the const members and the releases may be called from several threads at once. Moving, assigning and
/// destroying need the hold for themselves.
///
/// Lifetime: may outlive the lock object and the Connection that it came from; with the Connection closed it is lost.
/// The destructor releases: it sends the removal of the node and waits neither for the answer nor for callbacks. So a
/// hold may be destroyed inside any callback, that of its own on_lost() included; a callback that is running goes on.
///
/// Blocking and errors: only release(), release_for() and release_until() block. Only these and on_lost() throw.
///
///     zkrecipes::Hold hold = mutex.acquire();
///     auto lost = hold.on_lost([&] { stop_working(); });
///     while (hold.is_valid() && work_to_do())
///       write_piece(hold.token());  // the resource refuses smaller tokens, see FencingGate
///     lost.disconnect_and_wait();   // before what the callback uses is destroyed
class Hold {
 public:
  Hold() noexcept;
  ~Hold();
  Hold(Hold&&) noexcept;
  Hold& operator=(Hold&&) noexcept;  ///< releases what it held

  /// True unless empty or released. Says nothing about validity.
  explicit operator bool() const noexcept;

  bool is_valid() const noexcept;  ///< compares times; costs no request
  /// The time, on this machine's clock, until which no other contender can have the lock. Grows while the server
  /// answers. For a lost or released hold it is never later than the loss or the release.
  Clock::time_point valid_until() const noexcept;
  /// Fixed for the life of the hold, also after it is lost.
  FencingToken token() const noexcept;
  const std::string& node() const noexcept;  ///< the first one, if there are several: see Semaphore
  AcquisitionCost cost() const noexcept;

  /// Called at most once, on a thread of the connection or by its executor, as soon as validity is over; not on
  /// release, and not delayed by callbacks of other kinds that take long. A subscription to a hold that is already lost
  /// is called, too, also after the connection is closed, and never inside this call. A lost hold is also logged, as a
  /// warning with node, token and reason. Throws std::logic_error on an empty hold, std::invalid_argument if `callback`
  /// is empty.
  [[nodiscard]] Subscription on_lost(std::function<void()> callback) const;

  /// Waits until the server has confirmed the removal of the node. Throws Error(session_lost) if the hold was lost
  /// before that, ConnectionClosed if the connection was closed. Does nothing on an empty or released hold.
  void release();
  /// The same, but returns false when the server has not confirmed it in time. The hold is released all the same, and
  /// the removal of the node goes on until the node is gone. A second call does not wait for that: the hold is
  /// released.
  template <class Rep, class Period>
  bool release_for(const std::chrono::duration<Rep, Period>& timeout) {
    return release_by(deadline_after(timeout));
  }
  template <class AnyClock, class Duration>
  bool release_until(const std::chrono::time_point<AnyClock, Duration>& deadline) {
    return release_by(to_deadline(deadline));
  }

 private:
  friend class detail::HoldAccess;
  explicit Hold(std::shared_ptr<detail::HeldNode> node) noexcept;
  bool release_by(Clock::time_point deadline);
  std::shared_ptr<detail::HeldNode> node_;
};

}  // namespace zkrecipes
