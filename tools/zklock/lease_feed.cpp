// SPDX-License-Identifier: Apache-2.0
#include "tools/zklock/lease_feed.h"

#include <algorithm>

namespace zklock {

LeaseFeed::LeaseFeed(const zkrecipes::Hold& hold, SharedLease& lease, std::chrono::milliseconds session_timeout)
    : hold_(hold), lease_(lease), period_(std::max(session_timeout / 40, std::chrono::milliseconds(5))) {
  feed();
  thread_ = std::thread([this] {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!changed_.wait_for(lock, period_, [this] { return over_; })) feed();
  });
}

LeaseFeed::~LeaseFeed() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    over_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void LeaseFeed::feed() {
  const auto until = hold_.valid_until().time_since_epoch();
  lease_.valid_until = std::chrono::duration_cast<std::chrono::nanoseconds>(until).count();
}

}  // namespace zklock
