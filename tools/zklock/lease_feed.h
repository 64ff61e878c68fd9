// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <zkrecipes/connection.h>
#include <zkrecipes/hold.h>

#include "tools/zklock/guardian_protocol.h"

namespace zklock {

/// Tells the guardian how long the hold is valid, on a thread of its own: the main thread may be held up by a terminal
/// that nobody reads. Hold and connection must outlive this object.
class LeaseFeed {
 public:
  LeaseFeed(const zkrecipes::Hold& hold, const zkrecipes::Connection& connection, SharedLease& lease);
  ~LeaseFeed();
  LeaseFeed(const LeaseFeed&) = delete;
  LeaseFeed& operator=(const LeaseFeed&) = delete;

 private:
  void feed();

  const zkrecipes::Hold& hold_;
  const zkrecipes::Connection& connection_;
  SharedLease& lease_;
  std::chrono::milliseconds session_timeout_;  // the shortest that was negotiated; the lease goes by that
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace zklock
