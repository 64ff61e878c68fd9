// SPDX-License-Identifier: Apache-2.0
#include "connection/session_monitor.h"

#include <algorithm>
#include <utility>

namespace zkrecipes::connection {

namespace {
Clock::duration margin_for(std::optional<std::chrono::milliseconds> configured, std::chrono::milliseconds timeout) {
  if (!configured) return timeout / 4;
  // The server may grant less than was asked for; some validity must be left.
  return std::min<Clock::duration>(*configured, timeout / 2);
}
}  // namespace

SessionMonitor::SessionMonitor(std::optional<std::chrono::milliseconds> margin) : margin_(margin) {}

void SessionMonitor::connected(std::int64_t session_id, std::chrono::milliseconds timeout, Clock::time_point now) {
  if (state_ == ConnectionState::closed) return;
  tick(now);
  if (session_ && session_->id() != session_id) lose_session();
  if (!session_) {
    // The lease may start now although the server's began earlier: whatever makes a hold is sent after this moment,
    // and its acknowledgement moves the lease further than this.
    session_ = std::make_shared<Session>(session_id, timeout, now, margin_for(margin_, timeout));
  }
  enter(ConnectionState::connected);
}

void SessionMonitor::disconnected() {
  if (state_ == ConnectionState::connected) enter(ConnectionState::suspended);
}

void SessionMonitor::expired() {
  if (state_ != ConnectionState::closed) lose_session();
}

void SessionMonitor::closed() {
  if (state_ == ConnectionState::closed) return;
  if (session_) ended_.push_back(std::exchange(session_, nullptr));
  enter(ConnectionState::closed);
}

void SessionMonitor::tick(Clock::time_point now) {
  if (session_ && !session_->lease().is_valid(now)) lose_session();
}

std::optional<Clock::time_point> SessionMonitor::deadline() const {
  if (!session_) return std::nullopt;
  return session_->lease().valid_until();
}

std::vector<ConnectionState> SessionMonitor::take_changes() {
  return std::exchange(changes_, {});
}

std::vector<SessionPtr> SessionMonitor::take_ended() {
  return std::exchange(ended_, {});
}

void SessionMonitor::enter(ConnectionState state) {
  if (state_ == state) return;
  state_ = state;
  changes_.push_back(state);
}

void SessionMonitor::lose_session() {
  if (!session_) return;
  ended_.push_back(std::exchange(session_, nullptr));
  // A program that acts on `suspended` sees it before `lost` also when both are noticed at once.
  enter(ConnectionState::suspended);
  enter(ConnectionState::lost);
}

}  // namespace zkrecipes::connection
