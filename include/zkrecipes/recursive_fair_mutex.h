// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "zkrecipes/connection.h"
#include "zkrecipes/deadline.h"
#include "zkrecipes/fencing_token.h"
#include "zkrecipes/lock_options.h"

namespace zkrecipes {

/// A FairMutex that its owner thread may lock again: it counts, and asks the server for nothing on re-entry. One node
/// and one token from the first lock() to the last unlock().
///
/// Re-entry into a hold that was lost meanwhile succeeds as with any mutex; is_held() tells. Tries as in FairMutex.
/// Thread-safe.
class RecursiveFairMutex {
 public:
  RecursiveFairMutex(Connection& connection, std::string path, LockOptions options = {});
  ~RecursiveFairMutex();
  RecursiveFairMutex(const RecursiveFairMutex&) = delete;
  RecursiveFairMutex& operator=(const RecursiveFairMutex&) = delete;

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
  /// By a thread that does not own it: logs an error and does nothing.
  void unlock() noexcept;

  bool is_held() const noexcept;  ///< by whichever thread, and valid
  int depth() const noexcept;     ///< how many times this thread has locked it
  FencingToken fencing_token() const;
  [[nodiscard]] Subscription on_lost(std::function<void()> callback);

 private:
  bool lock_until(Clock::time_point deadline);
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace zkrecipes
