// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "bench/comparison/locks/lock.h"
#include "bench/comparison/locks/redis_session.h"

namespace comparison {

/// The lock with expiry on a majority of independent Redis servers, as the Redis documentation describes it: the time
/// it took to get them, and an allowance for drifting clocks, come off its validity.
class Redlock : public Lock {
 public:
  Redlock(const std::vector<std::string>& endpoints, std::string name, std::chrono::milliseconds lease);
  ~Redlock() override;
  void acquire() override;
  bool release() override;
  bool is_held() override { return std::chrono::steady_clock::now() < valid_until_; }
  std::optional<long> requests() const noexcept override;

 private:
  bool try_majority();
  std::size_t release_everywhere();
  std::size_t quorum() const noexcept { return servers_.size() / 2 + 1; }

  const std::string name_;
  const std::string owner_;
  const std::chrono::milliseconds lease_;
  std::vector<std::unique_ptr<RedisSession>> servers_;
  std::chrono::steady_clock::time_point valid_until_{};
};

}  // namespace comparison
