// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "connection/client.h"
#include "connection/mutex.h"
#include "recipes/grant.h"
#include "recipes/hold.h"

namespace zkrecipes::detail {

/// A node that stays ours between two holds of one lock object, while nobody else wants the lock.
///
/// It is held, idle (ours, without a hold) or over. A release makes it idle, unless another contender is known to wait,
/// or the lease does not cover it. The next acquire takes an idle node over without a request. An idle node is removed
/// as soon as another contender comes, or somebody asks for the lock back, or it was idle for too long; a held one is
/// removed by its release then. To hear of the first newcomer, the children of the lock path are listed and watched
/// once, behind the first grant. Only the holder does that, and never a waiter. Until that is answered, the newest
/// listing is the one by which the lock was granted; it has shown no other contender.
///
/// Thread-safe. Kept alive by its holds, and by its Retention while it is the newest.
class RetainedNode : public std::enable_shared_from_this<RetainedNode> {
 public:
  /// Has a first hold, to be asked for next. `how_long`: it may be idle, a year at most.
  static std::shared_ptr<RetainedNode> make(Grant grant, std::chrono::nanoseconds how_long);
  ~RetainedNode();

  // `observed` may be null. Each hold has its own.
  std::shared_ptr<HeldNode> first_hold(const AcquisitionCost& cost, ObservedAttemptPtr observed);
  /// Another hold, on the idle node. Null if it is not idle, or not certainly ours any more. Its grant is recorded for
  /// the observer.
  std::shared_ptr<HeldNode> take(const ObservedAttemptPtr& observed);
  /// It is not to be idle any more: its lock object is destroyed, or has another node, or others want the lock.
  void retire() noexcept;

  // For the hold.
  void returned() noexcept;
  /// Removes the node, as HeldNode::release_confirmed().
  bool remove_confirmed(Clock::time_point deadline, const std::function<void()>& sent);

 private:
  enum class State { held, idle, over };

  RetainedNode(Grant grant, std::chrono::nanoseconds how_long);
  void watch_over();
  void listen_for_newcomers();
  void listed(const Reply& reply);
  bool revoke_asked();
  void lost(LossReason reason);
  void idle_time_over();
  std::shared_ptr<HeldNode> make_hold(const AcquisitionCost& cost, ObservedAttemptPtr observed) ZKR_REQUIRES(mutex_);
  void start_timer() ZKR_REQUIRES(mutex_);
  /// True when the node was idle: then it has to be removed, without the mutex.
  bool refuse_idleness() ZKR_REQUIRES(mutex_);
  void remove() noexcept;
  void stop_listening() noexcept;

  const Grant grant_;  // as it was made
  const std::chrono::nanoseconds how_long_;
  // For the whole time: hears of loss and revocation, and removes the node. Constant after make().
  std::shared_ptr<HeldNode> node_;

  Mutex mutex_;
  State state_ ZKR_GUARDED_BY(mutex_) = State::held;
  bool wanted_ ZKR_GUARDED_BY(mutex_) = false;                            // is removed instead of idle
  LossReason loss_ ZKR_GUARDED_BY(mutex_) = LossReason::session_expired;  // once it is lost
  Clock::time_point idle_since_ ZKR_GUARDED_BY(mutex_);
  std::weak_ptr<HeldNode> hold_ ZKR_GUARDED_BY(mutex_);  // the newest
  WatchId watch_ ZKR_GUARDED_BY(mutex_) = 0;             // of the children
  TimerId timer_ ZKR_GUARDED_BY(mutex_) = 0;             // one at a time: it looks how long the node has been idle
};

/// What a lock object with LockOptions::retain keeps between its holds. Shared with the acquires that are under way.
/// Thread-safe.
class Retention {
 public:
  explicit Retention(std::chrono::nanoseconds how_long) : how_long_(how_long) {}

  /// The first hold on a node that was just granted, to the only contender.
  std::shared_ptr<HeldNode> granted(Grant grant);
  /// A hold on the idle node; null if there is none. See RetainedNode::take().
  std::shared_ptr<HeldNode> take(const ObservedAttemptPtr& observed);
  /// Keeps nothing any more.
  void close() noexcept;

 private:
  const std::chrono::nanoseconds how_long_;
  Mutex mutex_;
  std::shared_ptr<RetainedNode> newest_ ZKR_GUARDED_BY(mutex_);
  bool closed_ ZKR_GUARDED_BY(mutex_) = false;
};

}  // namespace zkrecipes::detail
