// SPDX-License-Identifier: Apache-2.0
#include "bench/comparison/locks/redis_setnx_lock.h"

#include <exception>
#include <utility>

#include "bench/comparison/locks/polling.h"

namespace comparison {

RedisSetnxLock::RedisSetnxLock(const std::string& endpoint, std::string name)
    : name_(std::move(name)), session_(endpoint) {}

RedisSetnxLock::~RedisSetnxLock() {
  try {
    if (held_) release();
  } catch (const std::exception&) {  // it stays locked, as with any program that ends so
  }
}

void RedisSetnxLock::acquire() {
  poll_until([this] {
    const auto reply = session_.command({"SETNX", name_, "locked"});
    return reply && reply->number == 1;
  });
  held_ = true;
}

bool RedisSetnxLock::release() {
  held_ = false;
  const auto reply = session_.command({"DEL", name_});
  return reply && reply->number == 1;
}

}  // namespace comparison
