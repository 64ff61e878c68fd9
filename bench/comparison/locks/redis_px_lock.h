// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "bench/comparison/locks/lock.h"
#include "bench/comparison/locks/redis_session.h"

namespace comparison {

/// `SET NX PX` with a random value, and a script that deletes the key only if the value is still its own.
class RedisPxLock : public Lock {
 public:
  RedisPxLock(const std::string& endpoint, std::string name, std::chrono::milliseconds lease);
  ~RedisPxLock() override;
  void acquire() override;
  bool release() override;
  bool is_held() override { return std::chrono::steady_clock::now() < valid_until_; }
  std::optional<long> requests() const noexcept override { return session_.commands(); }

 private:
  const std::string name_;
  const std::string owner_;
  const std::chrono::milliseconds lease_;
  RedisSession session_;
  std::chrono::steady_clock::time_point valid_until_{};
};

}  // namespace comparison
