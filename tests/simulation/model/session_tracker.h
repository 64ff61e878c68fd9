// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

namespace zkrecipes::simulation {

/// The leader's knowledge of sessions: when each expires, and which server speaks for it. Times are milliseconds of the
/// leader's own clock. Sessions expire in groups, at the ends of ticks.
class SessionTracker {
 public:
  enum class Check { ok, moved, expired };

  SessionTracker(std::int64_t tick_ms, std::int64_t now_ms);

  void track(std::int64_t session, std::int32_t timeout_ms, std::int64_t now_ms);
  /// False when it is unknown or being closed.
  bool touch(std::int64_t session, std::int32_t timeout_ms, std::int64_t now_ms);
  Check check(std::int64_t session, int server);
  void set_owner(std::int64_t session, int server);
  void set_closing(std::int64_t session);
  void remove(std::int64_t session) { sessions_.erase(session); }
  std::int32_t timeout_ms(std::int64_t session) const;  // 0 if unknown

  std::int64_t next_check_ms() const { return next_check_ms_; }
  /// Those whose time was over at the next check; they are being closed from then on. Empty before its time.
  std::vector<std::int64_t> expire(std::int64_t now_ms);

 private:
  struct Session {
    std::int32_t timeout_ms = 0;
    std::int64_t expires_ms = 0;
    int owner = -1;
    bool closing = false;
  };
  std::int64_t round_up(std::int64_t ms) const { return (ms / tick_ms_ + 1) * tick_ms_; }

  std::int64_t tick_ms_;
  std::int64_t next_check_ms_;
  std::unordered_map<std::int64_t, Session> sessions_;
  // A session that has moved on to a later group is left in the earlier one.
  std::map<std::int64_t, std::vector<std::int64_t>> groups_;
};

}  // namespace zkrecipes::simulation
