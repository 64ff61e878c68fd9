// SPDX-License-Identifier: Apache-2.0
#include "bench/comparison/locks/redis_px_lock.h"

#include <exception>
#include <utility>

#include "bench/comparison/locks/owner.h"
#include "bench/comparison/locks/polling.h"
#include "bench/comparison/locks/redis_lease.h"

namespace comparison {

RedisPxLock::RedisPxLock(const std::string& endpoint, std::string name, std::chrono::milliseconds lease)
    : name_(std::move(name)), owner_(make_owner()), lease_(lease), session_(endpoint) {}

RedisPxLock::~RedisPxLock() {
  try {
    if (is_held()) release();
  } catch (const std::exception&) {  // it expires
  }
}

void RedisPxLock::acquire() {
  poll_until([this] {
    const auto sent = std::chrono::steady_clock::now();
    if (!set_lease(session_, name_, owner_, lease_)) return false;
    valid_until_ = sent + lease_;
    return true;
  });
}

bool RedisPxLock::release() {
  valid_until_ = {};
  return delete_lease(session_, name_, owner_);
}

}  // namespace comparison
