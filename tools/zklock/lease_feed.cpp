// SPDX-License-Identifier: Apache-2.0
#include "tools/zklock/lease_feed.h"

#include <algorithm>

#include "tools/zklock/boot_clock.h"

namespace zklock {

LeaseFeed::LeaseFeed(const zkrecipes::Hold& hold, const zkrecipes::Connection& connection, SharedLease& lease)
    : hold_(hold), connection_(connection), lease_(lease), session_timeout_(connection.session_timeout()) {
  feed();
  thread_ = std::thread([this] {
    std::unique_lock<std::mutex> lock(mutex_);
    const auto over = [this] { return over_; };
    while (!changed_.wait_for(lock, std::max(session_timeout_ / 40, std::chrono::milliseconds(5)), over)) feed();
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
  session_timeout_ = std::min(session_timeout_, connection_.session_timeout());
  // It is certain that the servers give the lock to nobody else for a twentieth of the session timeout after the end of
  // the lease (docs/guarantees.md). Half of that is for the command, the rest for clocks that differ.
  lease_.grace = (session_timeout_ / 40).count();
  // In this order: if the machine is suspended in between, the result is too early rather than too late.
  const auto now = BootClock::now();
  const auto until = hold_.valid_until();
  lease_.valid_until = (now + (until - zkrecipes::Clock::now())).time_since_epoch().count();
}

}  // namespace zklock
