// SPDX-License-Identifier: Apache-2.0
#include "connection/session_monitor.h"

#include <algorithm>
#include <utility>

namespace zkrecipes::detail {

namespace {
LeaseClock::duration margin_for(std::optional<std::chrono::milliseconds> configured,
                                std::chrono::milliseconds timeout) {
  if (!configured) return timeout / 4;
  // The server may grant less than was asked for; some validity must be left. It may also grant more.
  const LeaseClock::duration least = LeaseClock::duration(timeout) / kDriftShare;
  return std::clamp<LeaseClock::duration>(*configured, least, timeout / 2);
}
}  // namespace

SessionMonitor::SessionMonitor(std::optional<std::chrono::milliseconds> margin) : margin_(margin) {}

void SessionMonitor::connected(std::int64_t session_id, std::chrono::milliseconds timeout, Lease::Time sent,
                               Lease::Time now) {
  if (state_ == ConnectionState::closed) return;
  tick(now);
  if (session_ && session_->id() != session_id) lose_session();
  const auto margin = margin_for(margin_, timeout);
  if (!session_) {
    // The server counts a new session from when it made it, which was after the request for it was sent.
    session_ = std::make_shared<Session>(session_id, timeout, sent, margin);
    session_->contact().renew(now, now, false);
  } else {
    session_->renegotiated(timeout, margin);
    tick(now);  // a shorter lease may be over already
    if (!session_) return;
  }
  enter(ConnectionState::connected);
}

void SessionMonitor::disconnected() {
  if (state_ == ConnectionState::connected) enter(ConnectionState::suspended);
}

void SessionMonitor::expired() {
  if (session_) session_->note_expired();
  if (state_ != ConnectionState::closed) lose_session();
}

void SessionMonitor::closed() {
  if (state_ == ConnectionState::closed) return;
  if (session_) ended_.push_back(std::exchange(session_, nullptr));
  enter(ConnectionState::closed);
}

void SessionMonitor::tick(Lease::Time now) {
  if (!session_) return;
  const bool relied_on_lease_is_over = (relied_on_ && !session_->lease().is_valid(now)) || session_->lease().ended();
  if (relied_on_lease_is_over || !session_->contact().is_valid(now)) lose_session();
}

std::optional<Lease::Time> SessionMonitor::deadline() const {
  if (!session_) return std::nullopt;
  const Lease::Time contact = session_->contact().valid_until();
  return relied_on_ ? std::min(contact, session_->lease().valid_until()) : contact;
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
  relied_on_ = false;
  ended_.push_back(std::exchange(session_, nullptr));
  // A program that acts on `suspended` sees it before `lost` also when both are noticed at once.
  enter(ConnectionState::suspended);
  enter(ConnectionState::lost);
}

}  // namespace zkrecipes::detail
