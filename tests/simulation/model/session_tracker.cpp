// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/model/session_tracker.h"

#include <utility>

namespace zkrecipes::simulation {

SessionTracker::SessionTracker(std::int64_t tick_ms, std::int64_t now_ms)
    : tick_ms_(tick_ms), next_check_ms_(round_up(now_ms)) {}

void SessionTracker::track(std::int64_t session, std::int32_t timeout_ms, std::int64_t now_ms) {
  sessions_[session];
  touch(session, timeout_ms, now_ms);
}

bool SessionTracker::touch(std::int64_t session, std::int32_t timeout_ms, std::int64_t now_ms) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end() || found->second.closing) return false;
  found->second.timeout_ms = timeout_ms;
  const std::int64_t expires = round_up(now_ms + timeout_ms);
  if (found->second.expires_ms == expires) return true;
  found->second.expires_ms = expires;
  groups_[expires].push_back(session);
  return true;
}

SessionTracker::Check SessionTracker::check(std::int64_t session, int server) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end() || found->second.closing) return Check::expired;
  if (found->second.owner == -1) found->second.owner = server;
  return found->second.owner == server ? Check::ok : Check::moved;
}

void SessionTracker::set_owner(std::int64_t session, int server) {
  const auto found = sessions_.find(session);
  if (found != sessions_.end()) found->second.owner = server;
}

void SessionTracker::set_closing(std::int64_t session) {
  const auto found = sessions_.find(session);
  if (found != sessions_.end()) found->second.closing = true;
}

std::int32_t SessionTracker::timeout_ms(std::int64_t session) const {
  const auto found = sessions_.find(session);
  return found == sessions_.end() ? 0 : found->second.timeout_ms;
}

std::vector<std::int64_t> SessionTracker::expire(std::int64_t now_ms) {
  std::vector<std::int64_t> result;
  if (now_ms < next_check_ms_) return result;
  const auto group = groups_.find(next_check_ms_);
  if (group != groups_.end()) {
    for (const std::int64_t session : group->second) {
      const auto found = sessions_.find(session);
      if (found == sessions_.end() || found->second.closing || found->second.expires_ms != next_check_ms_) continue;
      found->second.closing = true;
      result.push_back(session);
    }
    groups_.erase(group);
  }
  next_check_ms_ += tick_ms_;
  return result;
}

}  // namespace zkrecipes::simulation
