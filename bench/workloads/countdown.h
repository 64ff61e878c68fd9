// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <mutex>

namespace bench {

/// Lets one thread wait until others have counted to zero.
class Countdown {
 public:
  void start(long count) {
    std::lock_guard<std::mutex> lock(mutex_);
    left_ = count;
  }
  void count() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (--left_ == 0) done_.notify_all();
  }
  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    done_.wait(lock, [this] { return left_ <= 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable done_;
  long left_ = 0;  // guarded by mutex_
};

}  // namespace bench
