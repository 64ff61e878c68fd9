// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <hiredis/hiredis.h>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace comparison {

struct RedisReply {
  bool is_nil = false;
  long long number = 0;
  std::string text;
};

/// One connection to Redis, made again when it is found broken. Used by one thread, commands() excepted.
class RedisSession {
 public:
  explicit RedisSession(std::string endpoint);  ///< "host:port"; connects when first used

  /// Empty if the server cannot be reached or does not answer in time. Throws std::runtime_error when it refuses.
  std::optional<RedisReply> command(const std::vector<std::string>& words);
  long commands() const noexcept { return commands_; }

 private:
  bool connect();

  const std::string endpoint_;
  std::unique_ptr<redisContext, decltype(&redisFree)> context_{nullptr, &redisFree};
  std::atomic<long> commands_{0};
};

}  // namespace comparison
