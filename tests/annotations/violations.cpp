// SPDX-License-Identifier: Apache-2.0
//
// Clang must accept this file as it is, and refuse it with any one of the violations below.
#include "connection/interruptible_mutex.h"
#include "connection/mutex.h"

#ifndef VIOLATION
#define VIOLATION 0
#endif

namespace {

using namespace zkrecipes::detail;

class Counter {
 public:
  int add() {
    MutexLock lock(mutex_);
    twice();
    return ++count_;
  }
  int add_and_tell() {
    MutexLock lock(mutex_);
    const int count = ++count_;
    lock.unlock();
    tell();
    lock.lock();
    return count + count_;
  }
  int wait() {
    InterruptibleLock lock(waiting_mutex_);
    while (arrived_ == 0) changed_.wait(lock);
    return arrived_;
  }
  int read() {
    ReaderLock lock(shared_mutex_);
    return rare_;
  }
  int write() {
    WriterLock lock(shared_mutex_);
    return ++rare_;
  }

#if VIOLATION == 1
  int touched_without_the_mutex() {
    return ++count_;
  }
#elif VIOLATION == 2
  int touched_after_unlock() {
    MutexLock lock(mutex_);
    lock.unlock();
    return count_;
  }
#elif VIOLATION == 3
  void called_without_the_mutex() {
    twice();
  }
#elif VIOLATION == 4
  void told_with_the_mutex() {
    MutexLock lock(mutex_);
    tell();
  }
#elif VIOLATION == 5
  void written_by_a_reader() {
    ReaderLock lock(shared_mutex_);
    ++rare_;
  }
#elif VIOLATION == 6
  int touched_under_another_mutex() {
    MutexLock lock(mutex_);
    return arrived_;
  }
#elif VIOLATION == 7
  void locked_twice() {
    MutexLock lock(mutex_);
    MutexLock again(mutex_);
  }
#endif

 private:
  void twice() ZKR_REQUIRES(mutex_) {
    count_ *= 2;
  }
  void tell() ZKR_EXCLUDES(mutex_) {}

  Mutex mutex_;
  int count_ ZKR_GUARDED_BY(mutex_) = 0;
  InterruptibleMutex waiting_mutex_;
  InterruptibleCondition changed_;
  int arrived_ ZKR_GUARDED_BY(waiting_mutex_) = 0;
  SharedMutex shared_mutex_;
  int rare_ ZKR_GUARDED_BY(shared_mutex_) = 0;
};

}  // namespace

int use_counter() {
  Counter counter;
  return counter.add() + counter.add_and_tell() + counter.wait() + counter.read() + counter.write();
}
