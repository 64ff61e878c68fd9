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
#include "zkrecipes/lock_options.h"
#include "zkrecipes/pending_hold.h"
#include "zkrecipes/stop_token.h"
#include "zkrecipes/subscription.h"

namespace zkrecipes {

/// A lock between processes for many readers or one writer, served in order of arrival: a reader behind a waiting
/// writer waits, and all readers behind one writer are granted together. A reader watches the nearest writer ahead, a
/// writer its predecessor. Compatible with Curator's InterProcessReadWriteLock on the same path.
///
///     zkrecipes::ReadWriteLock lock(connection, "/locks/catalogue");
///     std::shared_lock<zkrecipes::ReadWriteLock> reading(lock);      // for reading, beside other readers
///     zkrecipes::Hold writing = lock.acquire_write();                // in another thread or process
///     zkrecipes::Hold reading_on = lock.downgrade(std::move(writing));
///
/// Not recursive, and there is no upgrade: a thread that asks for the write lock while it holds a read lock, or the
/// other way round, would wait for itself. lock() and lock_shared() know their thread and refuse; see there. A thread
/// may lock_shared() twice, but the second call waits behind a writer that waits for the first:
/// RecursiveReadWriteLock is for that.
///
/// Thread-safety: all members may be called from any thread, except that the destructor must not run beside another
/// call. Lifetime: the lock may outlive its Connection; acquiring then throws ConnectionClosed. Holds and pending holds
/// may outlive the lock. Destroying it releases what lock() and lock_shared() have kept, waits for nothing, and is
/// allowed inside callbacks. Blocking, tries and exceptions are those of FairMutex.
class ReadWriteLock {
 public:
  /// Does no I/O. Throws std::invalid_argument if the path is no absolute node path.
  ReadWriteLock(Connection& connection, const std::string& path, const LockOptions& options = {});
  ~ReadWriteLock();
  ReadWriteLock(const ReadWriteLock&) = delete;
  ReadWriteLock& operator=(const ReadWriteLock&) = delete;

  // As FairMutex::acquire() and the other members of that group.
  [[nodiscard]] Hold acquire_read();
  [[nodiscard]] AcquireResult acquire_read(const StopToken& stop);
  [[nodiscard]] AcquireResult try_acquire_read();
  template <class Rep, class Period>
  [[nodiscard]] AcquireResult try_acquire_read_for(const std::chrono::duration<Rep, Period>& timeout,
                                                   const StopToken& stop = {}) {
    return acquire_read_until(deadline_after(timeout), stop);
  }
  template <class AnyClock, class Duration>
  [[nodiscard]] AcquireResult try_acquire_read_until(const std::chrono::time_point<AnyClock, Duration>& deadline,
                                                     const StopToken& stop = {}) {
    return acquire_read_until(to_deadline(deadline), stop);
  }
  [[nodiscard]] PendingHold acquire_read_async(const AcquireOptions& options = {});

  [[nodiscard]] Hold acquire_write();
  [[nodiscard]] AcquireResult acquire_write(const StopToken& stop);
  [[nodiscard]] AcquireResult try_acquire_write();
  template <class Rep, class Period>
  [[nodiscard]] AcquireResult try_acquire_write_for(const std::chrono::duration<Rep, Period>& timeout,
                                                    const StopToken& stop = {}) {
    return acquire_write_until(deadline_after(timeout), stop);
  }
  template <class AnyClock, class Duration>
  [[nodiscard]] AcquireResult try_acquire_write_until(const std::chrono::time_point<AnyClock, Duration>& deadline,
                                                      const StopToken& stop = {}) {
    return acquire_write_until(to_deadline(deadline), stop);
  }
  [[nodiscard]] PendingHold acquire_write_async(const AcquireOptions& options = {});

  /// Turns a write hold of this lock into a read hold; no writer is granted the lock in between. The token stays the
  /// same, and so do subscriptions to on_lost(): they now hear of the loss of the read hold. Blocks until the server
  /// has answered. Throws Error(session_lost) if the hold is lost, Error(not_held) if it is no write hold of this lock;
  /// `write` is unchanged then.
  [[nodiscard]] Hold downgrade(Hold&& write);

  // Lockable for writing, SharedLockable for reading: std::unique_lock, std::shared_lock. The holds are kept here.
  //
  // A lock belongs to the thread that took it, as with FairMutex: unlock() and unlock_shared() by a thread that has not
  // locked in that way log an error and do nothing. A std::shared_lock may be moved to another thread only if it is
  // moved back before it unlocks.
  //
  // A thread that has a valid lock() or lock_shared() of this object would wait for itself, and std::logic_error is
  // thrown at once: by lock(), by lock_shared() after lock(), and by the timed tries for the other kind. try_lock() and
  // try_lock_shared() return false then, and so do timed tries for writing after lock().
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

  void lock_shared();
  [[nodiscard]] bool lock_shared(const StopToken& stop);  ///< the same
  bool try_lock_shared();
  template <class Rep, class Period>
  bool try_lock_shared_for(const std::chrono::duration<Rep, Period>& timeout) {
    return lock_shared_until(deadline_after(timeout));
  }
  template <class AnyClock, class Duration>
  bool try_lock_shared_until(const std::chrono::time_point<AnyClock, Duration>& deadline) {
    return lock_shared_until(to_deadline(deadline));
  }
  void unlock_shared() noexcept;

  // About the current lock() (for writing) of this object: that of the calling thread, else the newest. Without one,
  // is_held() is false and the others throw Error(not_held).
  bool is_held() const noexcept;  ///< and valid
  FencingToken fencing_token() const;
  std::string node() const;
  [[nodiscard]] Subscription on_lost(std::function<void()> callback);

  // The same about the current lock_shared() (for reading).
  bool is_held_shared() const noexcept;
  /// A reader's token is larger than that of every write that was granted before the reader and smaller than that of
  /// every write that is granted after it. Readers that hold together have different tokens, which say nothing about
  /// each other. After a downgrade() the token is that of the write itself.
  ///
  /// So a store that remembers the newest token of a *write* can compare a reader's with it. If the reader's is
  /// smaller, a later writer has been there: the reader's hold is over, and the store can refuse what the reader wants
  /// to write back, or answer that its read would be mixed with newer data. The store must not remember readers'
  /// tokens, which would shut out the other readers: compare with FencingGate::highest(), do not admit().
  FencingToken fencing_token_shared() const;
  std::string node_shared() const;
  [[nodiscard]] Subscription on_lost_shared(std::function<void()> callback);

 private:
  AcquireResult acquire_read_until(Clock::time_point deadline, const StopToken& stop);
  AcquireResult acquire_write_until(Clock::time_point deadline, const StopToken& stop);
  bool lock_until(Clock::time_point deadline);
  bool lock_shared_until(Clock::time_point deadline);
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace zkrecipes
