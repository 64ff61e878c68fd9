// SPDX-License-Identifier: Apache-2.0
#include "connection/session.h"

#include <algorithm>
#include <utility>

namespace zkrecipes::connection {

namespace {
constexpr std::int64_t kOver = 1;

std::int64_t ticks(Clock::time_point time) {
  return time.time_since_epoch().count();
}
std::int64_t encode(std::int64_t deadline, bool over) {
  return deadline * 2 + (over ? kOver : 0);
}
std::int64_t deadline_of(std::int64_t state) {
  return state >> 1;
}
bool over(std::int64_t state) {
  return (state & kOver) != 0;
}
}  // namespace

Lease::Lease(Clock::time_point start, Clock::duration length)
    : length_(length), state_(encode(ticks(start + length), false)) {}

bool Lease::acknowledge(Clock::time_point sent, Clock::time_point now) noexcept {
  const std::int64_t extended = ticks(sent + length_);
  std::int64_t state = state_.load();
  for (;;) {
    if (over(state)) return false;
    if (ticks(now) >= deadline_of(state)) {
      if (state_.compare_exchange_weak(state, encode(deadline_of(state), true))) return false;
      continue;
    }
    if (extended <= deadline_of(state)) return true;
    if (state_.compare_exchange_weak(state, encode(extended, false))) return true;
  }
}

bool Lease::is_valid(Clock::time_point now) const noexcept {
  std::int64_t state = state_.load();
  for (;;) {
    if (over(state)) return false;
    if (ticks(now) < deadline_of(state)) return true;
    if (state_.compare_exchange_weak(state, encode(deadline_of(state), true))) return false;
  }
}

Clock::time_point Lease::valid_until() const noexcept {
  return Clock::time_point(Clock::duration(deadline_of(state_.load())));
}

void Lease::end(Clock::time_point now) noexcept {
  std::int64_t state = state_.load();
  while (!over(state)) {
    const std::int64_t at = std::min(deadline_of(state), ticks(now));
    if (!state_.compare_exchange_weak(state, encode(at, true))) continue;
    if (at < deadline_of(state)) cut_short_.store(true);
    return;
  }
}

bool Lease::ended() const noexcept {
  return over(state_.load());
}

Session::Session(std::int64_t id, std::chrono::milliseconds timeout, Clock::time_point start, Clock::duration margin)
    : id_(id), timeout_(timeout), lease_(start, timeout - margin) {}

Session::ListenerId Session::on_over(std::function<void()> listener) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!announced_) {
      const ListenerId id = next_id_++;
      listeners_.emplace(id, std::move(listener));
      return id;
    }
  }
  listener();
  return 0;
}

void Session::forget(ListenerId id) {
  std::function<void()> dropped;  // declared before the lock, destroyed after it: it may own what calls back here
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = listeners_.find(id);
  if (found == listeners_.end()) return;
  dropped = std::move(found->second);
  listeners_.erase(found);
}

void Session::announce_over(Clock::time_point now) {
  lease_.end(now);
  std::map<ListenerId, std::function<void()>> listeners;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (announced_) return;
    announced_ = true;
    listeners.swap(listeners_);
  }
  for (auto& [id, listener] : listeners) listener();
}

}  // namespace zkrecipes::connection
