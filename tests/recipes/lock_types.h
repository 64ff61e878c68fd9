// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "tests/support/zookeeper_frames.h"
#include "zkrecipes/zkrecipes.h"

namespace zkrecipes::testing {

// The lock types under one interface, that of FairMutex, so that one suite tests them all. Constants name
// the differences between them:
//
// kName     for people
// kFair     grants in order of creation
// kPath     where contenders stand in line, seen from the lock's path
// kLookKind the request by which a newcomer sees that it must wait
// kLookNth  which one of that kind it is in an acquire

struct FairMutexUnderTest : FairMutex {
  static constexpr const char* kName = "FairMutex";
  static constexpr bool kFair = true;
  static constexpr const char* kPath = "";
  static constexpr RequestKind kLookKind = RequestKind::get_children;
  static constexpr int kLookNth = 1;

  using FairMutex::FairMutex;
};

struct SimpleLockUnderTest : SimpleLock {
  static constexpr const char* kName = "SimpleLock";
  static constexpr bool kFair = false;
  static constexpr const char* kPath = "";
  static constexpr RequestKind kLookKind = RequestKind::create;
  static constexpr int kLookNth = 1;

  using SimpleLock::SimpleLock;
};

struct WriteLockUnderTest : ReadWriteLock {
  static constexpr const char* kName = "ReadWriteLock";
  static constexpr bool kFair = true;
  static constexpr const char* kPath = "";
  static constexpr RequestKind kLookKind = RequestKind::get_children;
  static constexpr int kLookNth = 1;

  using ReadWriteLock::ReadWriteLock;
  [[nodiscard]] Hold acquire() { return acquire_write(); }
  [[nodiscard]] AcquireResult acquire(const StopToken& stop) { return acquire_write(stop); }
  [[nodiscard]] AcquireResult try_acquire() { return try_acquire_write(); }
  template <class Time>
  [[nodiscard]] AcquireResult try_acquire_until(Time deadline, const StopToken& stop = {}) {
    return try_acquire_write_until(deadline, stop);
  }
  template <class Duration>
  [[nodiscard]] AcquireResult try_acquire_for(Duration timeout, const StopToken& stop = {}) {
    return try_acquire_write_for(timeout, stop);
  }
  [[nodiscard]] PendingHold acquire_async(const AcquireOptions& options = {}) { return acquire_write_async(options); }
};

/// A semaphore with one permit is a mutex. It has no lock(): the permits of lock() are kept here, one per thread.
struct OnePermitUnderTest : Semaphore {
  static constexpr const char* kName = "Semaphore";
  static constexpr bool kFair = true;
  static constexpr const char* kPath = "/locks";
  static constexpr RequestKind kLookKind = RequestKind::get_children;
  static constexpr int kLookNth = 2;  // the first is the listing of the line

  OnePermitUnderTest(Connection& connection, std::string path, LockOptions options = {})
      : Semaphore(connection, std::move(path), 1, std::move(options)) {}

  void lock() { keep(acquire(StopToken())); }
  bool try_lock() { return keep(try_acquire()); }
  template <class Duration>
  bool try_lock_for(Duration timeout) {
    return keep(try_acquire_for(timeout));
  }
  void unlock() {
    Hold released;
    std::lock_guard<std::mutex> lock(mutex_);
    released = std::move(kept_[std::this_thread::get_id()]);
  }
  bool is_held() const {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = kept_.find(std::this_thread::get_id());
    return found != kept_.end() && found->second.is_valid();
  }
  FencingToken fencing_token() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return kept_.at(std::this_thread::get_id()).token();
  }
  Subscription on_lost(std::function<void()> callback) {
    std::lock_guard<std::mutex> lock(mutex_);
    return kept_.at(std::this_thread::get_id()).on_lost(std::move(callback));
  }

 private:
  bool keep(AcquireResult hold) {
    if (!hold) return false;
    std::lock_guard<std::mutex> lock(mutex_);
    kept_[std::this_thread::get_id()] = std::move(*hold);
    return true;
  }
  mutable std::mutex mutex_;
  std::map<std::thread::id, Hold> kept_;  // guarded by mutex_
};

/// Lockable only.
struct RecursiveMutexUnderTest : RecursiveFairMutex {
  static constexpr const char* kName = "RecursiveFairMutex";
  static constexpr bool kFair = true;
  static constexpr const char* kPath = "";

  using RecursiveFairMutex::RecursiveFairMutex;
};

/// Lockable only; its writing side.
struct RecursiveWriteLockUnderTest : RecursiveReadWriteLock {
  static constexpr const char* kName = "RecursiveReadWriteLock";
  static constexpr bool kFair = true;
  static constexpr const char* kPath = "";

  using RecursiveReadWriteLock::RecursiveReadWriteLock;
};

struct LockTypeNames {
  template <class Lock>
  static std::string GetName(int /*index*/) {
    return Lock::kName;
  }
};

/// Those that give out holds.
using LockTypes = ::testing::Types<FairMutexUnderTest, SimpleLockUnderTest, WriteLockUnderTest, OnePermitUnderTest>;
/// All.
using LockableTypes = ::testing::Types<FairMutexUnderTest, SimpleLockUnderTest, WriteLockUnderTest, OnePermitUnderTest,
                                       RecursiveMutexUnderTest, RecursiveWriteLockUnderTest>;

}  // namespace zkrecipes::testing
