// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "zkrecipes/connection.h"
#include "zkrecipes/deadline.h"
#include "zkrecipes/hold.h"
#include "zkrecipes/lock_options.h"
#include "zkrecipes/pending_hold.h"

namespace zkrecipes {

/// Many readers or one writer, served in order of arrival: a reader behind a waiting writer waits, and all readers
/// behind one writer go in together. Readers watch the nearest writer ahead, writers the nearest contender.
///
/// Compatible with Curator's InterProcessReadWriteLock on the same path. There is no upgrade: who asks for the write
/// lock while reading waits for itself. Thread-safe; not recursive; may outlive its Connection.
class ReadWriteLock {
 public:
  ReadWriteLock(Connection& connection, std::string path, LockOptions options = {});
  ~ReadWriteLock();
  ReadWriteLock(const ReadWriteLock&) = delete;
  ReadWriteLock& operator=(const ReadWriteLock&) = delete;

  // As FairMutex::acquire() and its kin.
  [[nodiscard]] Hold acquire_read();
  [[nodiscard]] std::optional<Hold> try_acquire_read();
  [[nodiscard]] std::optional<Hold> try_acquire_read_until(Clock::time_point deadline);
  template <class Rep, class Period>
  [[nodiscard]] std::optional<Hold> try_acquire_read_for(const std::chrono::duration<Rep, Period>& timeout) {
    return try_acquire_read_until(deadline_after(timeout));
  }
  [[nodiscard]] PendingHold acquire_read_async();

  [[nodiscard]] Hold acquire_write();
  [[nodiscard]] std::optional<Hold> try_acquire_write();
  [[nodiscard]] std::optional<Hold> try_acquire_write_until(Clock::time_point deadline);
  template <class Rep, class Period>
  [[nodiscard]] std::optional<Hold> try_acquire_write_for(const std::chrono::duration<Rep, Period>& timeout) {
    return try_acquire_write_until(deadline_after(timeout));
  }
  [[nodiscard]] PendingHold acquire_write_async();

  /// Turns a write hold of this lock into a read hold without letting a writer in between. The token stays the same.
  /// Throws Error(session_lost) if the hold is lost, Error(not_held) if it is no write hold of this lock; `write` is
  /// then as it was.
  [[nodiscard]] Hold downgrade(Hold&& write);

  // Lockable for writing, SharedLockable for reading: std::unique_lock, std::shared_lock. The holds are kept here.
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

  void lock_shared();
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

  // About the current lock() (for writing) of this object.
  bool is_held() const noexcept;
  FencingToken fencing_token() const;
  [[nodiscard]] Subscription on_lost(std::function<void()> callback);

 private:
  bool lock_until(Clock::time_point deadline);
  bool lock_shared_until(Clock::time_point deadline);
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace zkrecipes
