// SPDX-License-Identifier: Apache-2.0
#include "connection/session.h"

#include <algorithm>
#include <utility>

#include "connection/guarded_call.h"

namespace zkrecipes::detail {

namespace {
constexpr std::int64_t kOver = 1;

std::int64_t ticks(Lease::Time time) {
  return time.time_since_epoch().count();
}
std::int64_t encode(std::int64_t proved, bool over) {
  return proved * 2 + (over ? kOver : 0);
}
std::int64_t proved_of(std::int64_t state) {
  return state >> 1;
}
bool over(std::int64_t state) {
  return (state & kOver) != 0;
}
}  // namespace

Lease::Lease(Time start, LeaseClock::duration length) : length_(length.count()), state_(encode(ticks(start), false)) {}

bool Lease::renew(Time sent, Time now, bool relied_on) noexcept {
  std::int64_t state = state_.load();
  for (;;) {
    if (over(state)) return false;
    if (relied_on && ticks(now) >= proved_of(state) + length_.load()) {
      if (state_.compare_exchange_weak(state, state | kOver)) return false;
      continue;
    }
    if (ticks(sent) <= proved_of(state)) return true;
    if (state_.compare_exchange_weak(state, encode(ticks(sent), false))) return true;
  }
}

void Lease::shorten(LeaseClock::duration length) noexcept {
  std::int64_t known = length_.load();
  while (length.count() < known && !length_.compare_exchange_weak(known, length.count())) {
  }
}

bool Lease::is_valid(Time now) const noexcept {
  std::int64_t state = state_.load();
  for (;;) {
    if (over(state)) return false;
    if (ticks(now) < proved_of(state) + length_.load()) return true;
    if (state_.compare_exchange_weak(state, state | kOver)) return false;
  }
}

bool Lease::covers(Time now) const noexcept {
  const std::int64_t state = state_.load();
  return !over(state) && ticks(now) < proved_of(state) + length_.load();
}

Lease::Time Lease::valid_until() const noexcept {
  return Time(LeaseClock::duration(proved_of(state_.load()) + length_.load()));
}

Lease::Time Lease::proved_at() const noexcept {
  return Time(LeaseClock::duration(proved_of(state_.load())));
}

void Lease::end(Time now) noexcept {
  std::int64_t state = state_.load();
  while (!over(state)) {
    const std::int64_t proved = std::min(proved_of(state), ticks(now) - length_.load());
    const bool early = proved < proved_of(state);
    if (!state_.compare_exchange_weak(state, encode(proved, true))) continue;
    if (early) cut_short_.store(true);
    return;
  }
}

bool Lease::ended() const noexcept {
  return over(state_.load());
}

Session::Session(std::int64_t id, std::chrono::milliseconds timeout, Lease::Time start, LeaseClock::duration margin)
    : id_(id),
      timeout_ms_(timeout.count()),
      shortest_ms_(timeout.count()),
      lease_(start, timeout - margin),
      contact_(start, timeout - margin) {}

void Session::renegotiated(std::chrono::milliseconds timeout, LeaseClock::duration margin) noexcept {
  timeout_ms_.store(timeout.count());
  shortest_ms_.store(std::min<std::int64_t>(shortest_ms_.load(), timeout.count()));
  lease_.shorten(timeout - margin);
  contact_.shorten(timeout - margin);
}

bool Session::is_proved(Lease::Time now) const noexcept {
  return lease_.covers(now + (lease_.valid_until() - lease_.proved_at()) / 2);
}

void Session::end(Lease::Time now) noexcept {
  lease_.end(now);
  contact_.end(now);
  over_.store(true);
}

Session::ListenerId Session::on_over(const std::function<void()>& listener) {
  const ListenerId id = on_later_over(listener);
  if (id == 0) listener();
  return id;
}

Session::ListenerId Session::on_later_over(std::function<void()> listener) {
  MutexLock lock(mutex_);
  if (announced_) return 0;
  const ListenerId id = next_id_++;
  listeners_.emplace(id, std::move(listener));
  return id;
}

void Session::forget(ListenerId id) {
  std::function<void()> dropped;  // declared before the lock, destroyed after it: it may own what calls back here
  MutexLock lock(mutex_);
  const auto found = listeners_.find(id);
  if (found == listeners_.end()) return;
  dropped = std::move(found->second);
  listeners_.erase(found);
}

void Session::announce_over(Lease::Time now) {
  end(now);
  std::map<ListenerId, std::function<void()>> listeners;
  {
    MutexLock lock(mutex_);
    if (announced_) return;
    announced_ = true;
    listeners.swap(listeners_);
  }
  for (auto& [id, listener] : listeners) call_guarded(process_log(), "the end of a session", listener);
}

}  // namespace zkrecipes::detail
