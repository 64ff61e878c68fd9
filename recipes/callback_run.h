// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <thread>

#include "connection/mutex.h"

namespace zkrecipes::detail {

/// The threads that are inside the callback of a PendingHold. Thread-safe.
///
/// A thread leaves after it has let go of the Acquisition, so this outlives it. Otherwise a thread of the program's
/// executor could be the last owner, and would destroy the executor, whose destructor may join that very thread.
class CallbackRun {
 public:
  /// False when closed. Else leave() follows.
  bool enter() {
    MutexLock lock(mutex_);
    if (closed_) return false;
    inside_.push_back(std::this_thread::get_id());
    return true;
  }
  void leave() {
    {
      MutexLock lock(mutex_);
      inside_.erase(std::find(inside_.begin(), inside_.end(), std::this_thread::get_id()));
    }
    left_.notify_all();
  }
  /// Nobody enters any more, and when this returns nobody is inside, unless this thread is.
  void close_and_wait() {
    MutexLock lock(mutex_);
    closed_ = true;
    const auto self = std::this_thread::get_id();
    while (!inside_.empty() && std::find(inside_.begin(), inside_.end(), self) == inside_.end()) left_.wait(lock);
  }

 private:
  Mutex mutex_;
  Condition left_;
  bool closed_ ZKR_GUARDED_BY(mutex_) = false;
  boost::container::small_vector<std::thread::id, 1> inside_ ZKR_GUARDED_BY(mutex_);
};

}  // namespace zkrecipes::detail
