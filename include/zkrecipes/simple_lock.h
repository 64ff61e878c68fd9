// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "zkrecipes/connection.h"
#include "zkrecipes/deadline.h"
#include "zkrecipes/hold.h"
#include "zkrecipes/lock_options.h"
#include "zkrecipes/pending_hold.h"

namespace zkrecipes {

namespace recipes {
class LockCore;
}

/// The simplest lock on ZooKeeper: whoever makes the ephemeral node at `path` holds it.
///
/// Not fair, and with a herd by design: all waiters watch that one node, a release wakes them all and all but one have
/// raced in vain. Right for locks that are hardly ever contended (one node, one request); for others take FairMutex.
/// Thread-safe; not recursive; may outlive its Connection. LockOptions::version_token is not available here.
class SimpleLock {
 public:
  /// Does no I/O. Throws std::invalid_argument if the path is no absolute node path.
  SimpleLock(Connection& connection, std::string path, LockOptions options = {});
  ~SimpleLock();
  SimpleLock(const SimpleLock&) = delete;
  SimpleLock& operator=(const SimpleLock&) = delete;

  // Each call is a contender of its own. Waiting goes on through outages; after a lost session it starts again at the
  // back. Throws ConnectionClosed, NotAuthorized or Error when the server refuses for good.
  //
  // A try never waits for another holder, nor for a connection: it is empty at once when the connection is not up, and
  // within a moment when the connection is lost meanwhile. A server that is silent is waited for until the connection
  // is given up. A timed call whose time is over, or whose timeout is zero or negative, is a try.
  [[nodiscard]] Hold acquire();
  [[nodiscard]] std::optional<Hold> try_acquire();
  [[nodiscard]] std::optional<Hold> try_acquire_until(Clock::time_point deadline);
  template <class Rep, class Period>
  [[nodiscard]] std::optional<Hold> try_acquire_for(const std::chrono::duration<Rep, Period>& timeout) {
    return try_acquire_until(deadline_after(timeout));
  }
  [[nodiscard]] PendingHold acquire_async();

  // Lockable and TimedLockable, for std::unique_lock, std::lock_guard and std::scoped_lock. The hold is kept in this
  // object. unlock(), by the thread that locked, hands the removal over and returns; without a lock() it logs an error
  // and does nothing. Use acquire() to hand holds from thread to thread.
  void lock();
  bool try_lock();
  template <class Rep, class Period>
  bool try_lock_for(const std::chrono::duration<Rep, Period>& timeout) {
    return lock_until(deadline_after(timeout));
  }
  template <class AnyClock, class Duration>
  bool try_lock_until(const std::chrono::time_point<AnyClock, Duration>& deadline) {
    return lock_until(to_deadline(deadline));
  }
  void unlock() noexcept;

  // About the current lock() of this object: this thread's, else the newest. Without one: false, and Error(not_held).
  bool is_held() const noexcept;  ///< and valid
  FencingToken fencing_token() const;
  [[nodiscard]] Subscription on_lost(std::function<void()> callback);

 private:
  bool lock_until(Clock::time_point deadline);
  std::unique_ptr<recipes::LockCore> core_;
};

}  // namespace zkrecipes
