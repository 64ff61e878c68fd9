// SPDX-License-Identifier: Apache-2.0
#include "bench/comparison/locks/redis_lease.h"

namespace comparison {
namespace {

const char* const kCompareAndDelete =
    "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";

}  // namespace

bool set_lease(RedisSession& session, const std::string& name, const std::string& owner,
               std::chrono::milliseconds lease) {
  const auto reply = session.command({"SET", name, owner, "NX", "PX", std::to_string(lease.count())});
  return reply && !reply->is_nil;
}

bool delete_lease(RedisSession& session, const std::string& name, const std::string& owner) {
  const auto reply = session.command({"EVAL", kCompareAndDelete, "1", name, owner});
  return reply && reply->number == 1;
}

}  // namespace comparison
