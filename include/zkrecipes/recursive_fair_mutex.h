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

/// A FairMutex that its owner thread may lock again. Re-entry increments a counter and sends no request: there is one
/// node and one token from the first lock() to the last unlock().
///
///     zkrecipes::RecursiveFairMutex mutex(connection, "/locks/orders");
///     std::lock_guard<zkrecipes::RecursiveFairMutex> outer(mutex);
///     std::lock_guard<zkrecipes::RecursiveFairMutex> inner(mutex);   // at once: mutex.depth() is 2
///
/// Re-entry into a hold that was lost meanwhile succeeds, as with any mutex; is_held() is false then.
///
/// Thread-safety: all members may be called from any thread, except that the destructor must not run beside another
/// call; each thread owns what it has locked. Lifetime: the mutex may outlive its Connection; lock() then throws
/// ConnectionClosed. Destroying it releases what is locked, waits for nothing, and is allowed inside callbacks.
/// Blocking, tries and exceptions are those of FairMutex.
class RecursiveFairMutex {
 public:
  /// Does no I/O. Throws std::invalid_argument if the path is no absolute node path.
  RecursiveFairMutex(Connection& connection, const std::string& path, const LockOptions& options = {});
  ~RecursiveFairMutex();
  RecursiveFairMutex(const RecursiveFairMutex&) = delete;
  RecursiveFairMutex& operator=(const RecursiveFairMutex&) = delete;

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
  /// Does not block. By a thread that does not own the mutex it logs an error and does nothing, as
  /// ExclusiveLock::unlock().
  void unlock() noexcept;

  int depth() const noexcept;  ///< how many times this thread has locked it

  // About the lock() of the calling thread, else the newest. Without one, is_held() is false and the others throw
  // Error(not_held).
  bool is_held() const noexcept;  ///< and valid
  FencingToken fencing_token() const;
  std::string node() const;
  [[nodiscard]] Subscription on_lost(std::function<void()> callback);

 private:
  bool lock_until(Clock::time_point deadline);
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace zkrecipes
