// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <mutex>
#include <shared_mutex>

#include "connection/thread_annotations.h"

namespace zkrecipes::detail {

/// A mutex that the annotations of connection/thread_annotations.h can name. `NativeMutex` does the work.
template <class NativeMutex>
class ZKR_CAPABILITY("mutex") AnnotatedMutex {
 public:
  AnnotatedMutex() = default;
  AnnotatedMutex(const AnnotatedMutex&) = delete;
  AnnotatedMutex& operator=(const AnnotatedMutex&) = delete;

  void lock() ZKR_ACQUIRE() { native_.lock(); }
  void unlock() ZKR_RELEASE() { native_.unlock(); }
  NativeMutex& native() { return native_; }

 private:
  NativeMutex native_;
};

/// Holds a mutex from construction to destruction, except between unlock() and lock(). For one thread.
template <class NativeMutex, class NativeLock>
class ZKR_SCOPED_CAPABILITY AnnotatedLock {
 public:
  explicit AnnotatedLock(AnnotatedMutex<NativeMutex>& mutex) ZKR_ACQUIRE(mutex) : native_(mutex.native()) {}
  ~AnnotatedLock() ZKR_RELEASE() = default;
  AnnotatedLock(const AnnotatedLock&) = delete;
  AnnotatedLock& operator=(const AnnotatedLock&) = delete;

  void lock() ZKR_ACQUIRE() { native_.lock(); }
  void unlock() ZKR_RELEASE() { native_.unlock(); }
  NativeLock& native() { return native_; }

 private:
  NativeLock native_;
};

/// Waits with an AnnotatedLock. There is no form that takes a predicate, because the check does not look into lambdas:
/// write "while (!condition) changed.wait(lock);".
template <class Lock, class NativeCondition>
class AnnotatedCondition {
 public:
  void wait(Lock& lock) { native_.wait(lock.native()); }
  template <class Time>
  auto wait_until(Lock& lock, const Time& time) {
    return native_.wait_until(lock.native(), time);
  }
  void notify_one() noexcept { native_.notify_one(); }
  void notify_all() noexcept { native_.notify_all(); }

 private:
  NativeCondition native_;
};

using Mutex = AnnotatedMutex<std::mutex>;
using MutexLock = AnnotatedLock<std::mutex, std::unique_lock<std::mutex>>;
using Condition = AnnotatedCondition<MutexLock, std::condition_variable>;

/// For data that is read far more often than it changes.
using SharedMutex = AnnotatedMutex<std::shared_mutex>;
using WriterLock = AnnotatedLock<std::shared_mutex, std::unique_lock<std::shared_mutex>>;

/// Holds a SharedMutex together with others that only read.
class ZKR_SCOPED_CAPABILITY ReaderLock {
 public:
  explicit ReaderLock(SharedMutex& mutex) ZKR_ACQUIRE_SHARED(mutex) : native_(mutex.native()) {}
  ~ReaderLock() ZKR_RELEASE_GENERIC() = default;
  ReaderLock(const ReaderLock&) = delete;
  ReaderLock& operator=(const ReaderLock&) = delete;

 private:
  std::shared_lock<std::shared_mutex> native_;
};

}  // namespace zkrecipes::detail
