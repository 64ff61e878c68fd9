// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "zkrecipes/acquire_options.h"
#include "zkrecipes/acquire_result.h"
#include "zkrecipes/connection.h"
#include "zkrecipes/deadline.h"
#include "zkrecipes/fencing_token.h"
#include "zkrecipes/hold.h"
#include "zkrecipes/pending_hold.h"
#include "zkrecipes/stop_token.h"
#include "zkrecipes/subscription.h"

namespace zkrecipes {

namespace detail {
class LockCore;
}

/// What FairMutex and SimpleLock have in common: a lock between processes that one contender holds at a time. Use one
/// of those two; this class cannot be made on its own.
///
/// Contenders: each call that acquires is a contender of its own, whichever thread makes it. The lock is not recursive:
/// a thread that acquires it twice waits for itself. lock() knows its thread: see there.
///
/// Thread-safety: all members may be called from several threads at once, except that the destructor must not run
/// beside another call.
///
/// Lifetime: the object may outlive its Connection; calls then throw ConnectionClosed. Holds and pending holds may
/// outlive the object, which need not be kept for them. Destroying it releases the holds that lock() has kept, waits
/// for nothing, and is allowed inside callbacks, that of its own hold included.
///
/// Blocking: acquire(), lock() and the timed calls block the calling thread, through outages, too; after a lost session
/// they start again at the back. A StopToken ends them at once, whatever the state of the connection, and so does
/// boost::thread::interrupt(). acquire_async() and unlock() do not block.
///
/// A try never waits for another holder. try_acquire() and try_lock() wait for a new Connection to find out whether it
/// can be connected: until it is up, until each server has been tried once, or until two seconds after the Connection
/// was made, whichever is first (on a handle of the program: until it is up, or the two seconds are over). That happens
/// once in the life of a Connection. From then on a try ends at once
/// (not_connected) when the connection is not up, or is lost meanwhile, unless this object has retained the lock. It
/// does wait for a silent server until the connection gives that server up. Boost.Thread's interruption ends all this.
///
/// A timed call with a timeout of zero or less, or a deadline that has passed, is a try, and does not wait for a new
/// Connection either. So is acquire_async() with a deadline that has passed.
///
/// Errors: all calls that acquire throw ConnectionClosed, NotAuthorized, or Error when the server refuses for good.
/// Blocking calls inside a callback of the library throw std::logic_error. "Not in time" is not an error: the
/// AcquireResult is empty and says why.
class ExclusiveLock {
 public:
  ExclusiveLock(const ExclusiveLock&) = delete;
  ExclusiveLock& operator=(const ExclusiveLock&) = delete;

  // The hold belongs to the caller, who may move it to another thread.
  [[nodiscard]] Hold acquire();
  [[nodiscard]] AcquireResult acquire(const StopToken& stop);
  [[nodiscard]] AcquireResult try_acquire();
  template <class Rep, class Period>
  [[nodiscard]] AcquireResult try_acquire_for(const std::chrono::duration<Rep, Period>& timeout,
                                              const StopToken& stop = {}) {
    return acquire_until(deadline_after(timeout), stop);
  }
  template <class AnyClock, class Duration>
  [[nodiscard]] AcquireResult try_acquire_until(const std::chrono::time_point<AnyClock, Duration>& deadline,
                                                const StopToken& stop = {}) {
    return acquire_until(to_deadline(deadline), stop);
  }
  [[nodiscard]] PendingHold acquire_async(const AcquireOptions& options = {});

  // Lockable and TimedLockable, for std::unique_lock, std::lock_guard and std::scoped_lock. The hold is kept in this
  // object until the thread that locked calls unlock(), which sends the removal of the node and does not wait for the
  // answer.
  //
  // A lock belongs to the thread that took it. unlock() by another thread logs an error and does nothing: the lock
  // stays with its owner. So a std::unique_lock may be moved to another thread only if it is moved back before it
  // unlocks; a hold that moves between threads is what acquire() returns.
  //
  // lock() by a thread that has locked already would wait for itself and throws std::logic_error at once. A try by such
  // a thread returns false, a timed one when its time is over. A hold that was lost is in nobody's way: the thread may
  // lock again, and then unlocks twice, the newest hold first.
  void lock();
  [[nodiscard]] bool lock(const StopToken& stop);  ///< false when it was stopped
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

  // About the current lock() of this object: that of the calling thread, else the newest. Without one, is_held() is
  // false and the others throw Error(not_held).
  bool is_held() const noexcept;  ///< and valid; costs no request
  FencingToken fencing_token() const;
  std::string node() const;
  [[nodiscard]] Subscription on_lost(std::function<void()> callback);

 protected:
  explicit ExclusiveLock(std::unique_ptr<detail::LockCore> core) noexcept;
  ~ExclusiveLock();

 private:
  AcquireResult acquire_until(Clock::time_point deadline, const StopToken& stop);
  bool lock_until(Clock::time_point deadline);
  std::unique_ptr<detail::LockCore> core_;
};

}  // namespace zkrecipes
