// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "connection/client.h"
#include "zkrecipes/observer.h"

namespace zkrecipes::detail {

using LockInfoPtr = std::shared_ptr<const LockInfo>;

/// What the observer hears of one attempt, and of the hold that comes of it. Exists only where there is an observer.
///
/// The members below record an event, and may be called with a mutex held. deliver() follows, without one: see
/// EventFeed. Thread-safe.
class ObservedAttempt {
 public:
  /// Null, and so nobody observes, if `lock` is.
  static std::shared_ptr<ObservedAttempt> make(const std::shared_ptr<Client>& client, const LockInfoPtr& lock);
  ObservedAttempt(const std::shared_ptr<Client>& client, LockInfoPtr lock);  ///< use make()
  /// That of the read hold which takes the place of this write hold.
  std::shared_ptr<ObservedAttempt> downgraded() const;

  void waiting(int queue_position);

  // Exactly one of these.
  /// Before anybody can release or lose the hold.
  void acquired(const FencingToken& token, const AcquisitionCost& cost, int permits = 1);
  void acquired_by_downgrade(const FencingToken& token);
  void not_acquired(AcquireStatus status);

  // After acquired(): the first one counts.
  void released();
  void lost(LossReason reason, const std::string& text);

  void deliver() noexcept {
    if (!client_->in_forked_child()) feed_.deliver();  // else its mutex may have been held at the moment of the fork
  }

 private:
  LockEvent base() const { return {id_, lock_}; }
  void begin_hold(LockAcquired event);
  bool end_hold() noexcept { return !ended_.exchange(true); }

  const std::shared_ptr<Client> client_;
  const LockInfoPtr lock_;
  const std::uint64_t id_;
  const Clock::time_point began_;
  EventFeed feed_;
  // Written once, before others know the hold.
  Clock::time_point held_since_{};
  FencingToken token_;
  std::atomic<bool> ended_{false};
};

using ObservedAttemptPtr = std::shared_ptr<ObservedAttempt>;

}  // namespace zkrecipes::detail
