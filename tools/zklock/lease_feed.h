// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <zkrecipes/hold.h>

#include "tools/zklock/guardian_protocol.h"

namespace zklock {

/// Tells the guardian how long the hold is valid, on a thread of its own: the main thread may be held up by a terminal
/// that nobody reads. The hold must outlive this object.
class LeaseFeed {
 public:
  LeaseFeed(const zkrecipes::Hold& hold, SharedLease& lease, std::chrono::milliseconds session_timeout);
  ~LeaseFeed();
  LeaseFeed(const LeaseFeed&) = delete;
  LeaseFeed& operator=(const LeaseFeed&) = delete;

 private:
  void feed();

  const zkrecipes::Hold& hold_;
  SharedLease& lease_;
  const std::chrono::milliseconds period_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace zklock
