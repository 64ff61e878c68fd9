// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "zkrecipes/connection.h"
#include "zkrecipes/deadline.h"
#include "zkrecipes/fencing_token.h"
#include "zkrecipes/lock_options.h"
#include "zkrecipes/stop_token.h"
#include "zkrecipes/subscription.h"

namespace zkrecipes {

/// A ReadWriteLock that a thread may lock again. Per thread: write in write, read in read and read in write increment a
/// counter and send no request; there is one node and one token from the first lock to the last unlock. Shares a path
/// with ReadWriteLock and with Curator's InterProcessReadWriteLock.
///
///     zkrecipes::RecursiveReadWriteLock lock(connection, "/locks/catalogue");
///     std::unique_lock<zkrecipes::RecursiveReadWriteLock> writing(lock);
///     std::shared_lock<zkrecipes::RecursiveReadWriteLock> reading(lock);   // at once
///     writing.unlock();                                                    // downgrades: still held for reading
///
/// Downgrade: a thread that unlocks its last write while it has reads goes on as a reader, and no writer is granted the
/// lock in between. unlock() does not wait for it. The write node stays until the read node has taken its place, so
/// other readers may have to wait for a moment longer. If the server refuses the read node for good, the write node
/// stays until the last unlock_shared(), and a line is logged.
///
/// No upgrade: write in read would wait for itself. lock() and the timed tries throw std::logic_error at once,
/// try_lock() returns false; also while a downgrade is under way. unlock_shared() first.
///
/// Re-entry into a hold that was lost meanwhile succeeds, as with any mutex; is_held() and is_held_shared() are false
/// until the thread has unlocked everything and locks again.
///
/// Ownership: each thread owns what it has locked. unlock() and unlock_shared() by a thread that has not locked in that
/// way log an error and do nothing. A std::unique_lock or std::shared_lock may be moved to another thread only if it is
/// moved back before it unlocks. Holds that move between threads are what ReadWriteLock::acquire_read() and
/// acquire_write() return.
///
/// Thread-safety: all members may be called from any thread, except that the destructor must not run beside another
/// call. Lifetime: the lock may outlive its Connection; acquiring then throws ConnectionClosed. Destroying it releases
/// what is locked, waits for nothing, and is allowed inside callbacks. Blocking, tries and exceptions are those of
/// FairMutex.
class RecursiveReadWriteLock {
 public:
  /// Does no I/O. Throws std::invalid_argument if the path is no absolute node path.
  RecursiveReadWriteLock(Connection& connection, const std::string& path, const LockOptions& options = {});
  ~RecursiveReadWriteLock();
  RecursiveReadWriteLock(const RecursiveReadWriteLock&) = delete;
  RecursiveReadWriteLock& operator=(const RecursiveReadWriteLock&) = delete;

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
  void unlock() noexcept;  ///< does not block

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
  void unlock_shared() noexcept;  ///< does not block

  int depth() const noexcept;         ///< how many times this thread has locked for writing
  int depth_shared() const noexcept;  ///< how many times this thread has locked for reading

  // About what is locked for writing: by the calling thread, else by the one that came last. Without a lock(),
  // is_held() is false and the others throw Error(not_held). on_lost() ends with the last unlock(), also when the
  // thread goes on as a reader.
  bool is_held() const noexcept;  ///< and valid
  FencingToken fencing_token() const;
  std::string node() const;
  [[nodiscard]] Subscription on_lost(std::function<void()> callback);

  // The same about what is locked for reading. A thread that also writes, or has downgraded, has one hold and one token
  // for both: that of the write. See ReadWriteLock::fencing_token_shared() for what a reader's token orders.
  // on_lost_shared() goes on through a downgrade. node_shared() is the write node until the read node has replaced it.
  bool is_held_shared() const noexcept;  ///< and valid
  FencingToken fencing_token_shared() const;
  std::string node_shared() const;
  [[nodiscard]] Subscription on_lost_shared(std::function<void()> callback);

 private:
  bool lock_until(Clock::time_point deadline);
  bool lock_shared_until(Clock::time_point deadline);
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace zkrecipes
