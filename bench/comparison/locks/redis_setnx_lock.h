// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "bench/comparison/locks/lock.h"
#include "bench/comparison/locks/redis_session.h"

namespace comparison {

/// `SETNX`, and `DEL` to release: no expiry, and no look at who deletes.
class RedisSetnxLock : public Lock {
 public:
  RedisSetnxLock(const std::string& endpoint, std::string name);
  ~RedisSetnxLock() override;
  void acquire() override;
  bool release() override;
  bool is_held() override { return held_; }  // nothing ever tells otherwise
  std::optional<long> requests() const noexcept override { return session_.commands(); }

 private:
  const std::string name_;
  RedisSession session_;
  bool held_ = false;
};

}  // namespace comparison
