// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/stop_token.h"

#include <utility>

#include "connection/stop_state.h"

namespace zkrecipes {

StopToken::StopToken() noexcept = default;
StopToken::~StopToken() = default;
StopToken::StopToken(const StopToken&) noexcept = default;
StopToken::StopToken(StopToken&&) noexcept = default;
StopToken& StopToken::operator=(const StopToken&) noexcept = default;
StopToken& StopToken::operator=(StopToken&&) noexcept = default;

StopToken::StopToken(std::shared_ptr<detail::StopState> state) noexcept : state_(std::move(state)) {}

bool StopToken::stop_requested() const noexcept {
  return state_ && state_->requested();
}

void StopToken::keep(std::shared_ptr<void> what) const {
  state_->keep(std::move(what));
}

StopSource::StopSource() : state_(std::make_shared<detail::StopState>()) {}

bool StopSource::request_stop() noexcept {
  const auto state = state_;  // a listener may destroy this object
  return state && state->request();
}

bool StopSource::stop_requested() const noexcept {
  return state_ && state_->requested();
}

}  // namespace zkrecipes

namespace zkrecipes::detail {

void StopTrigger::operator()() const noexcept {
  if (const auto state = state_.lock()) state->request();
}

StopState::~StopState() {
  Listeners* const known = listeners_.load();
  if (!known->process.in_child()) delete known;
}

StopState::Listeners& StopState::listeners() {
  Listeners* known = listeners_.load();
  if (known->process.in_child()) {
    auto own = std::make_unique<Listeners>();
    if (listeners_.compare_exchange_strong(known, own.get())) known = own.release();
  }
  return *known;
}

bool StopState::request() noexcept {
  Listeners& here = listeners();
  std::map<std::uint64_t, std::function<void()>> called;
  {
    MutexLock lock(here.mutex);
    if (requested_.exchange(true)) return false;
    called.swap(here.by_id);
  }
  for (const auto& [id, listener] : called) listener();
  return true;
}

void StopState::keep(std::shared_ptr<void> what) {
  kept_ = std::move(what);
}

StopListener::StopListener(const StopToken& token, std::function<void()> listener) {
  const auto& state = StopState::of(token);
  if (!state) return;
  StopState::Listeners& here = state->listeners();
  MutexLock lock(here.mutex);
  if (state->requested()) return;
  state_ = state;
  id_ = state->next_id_++;
  here.by_id.emplace(id_, std::move(listener));
}

StopListener::~StopListener() {
  forget();
}

StopListener::StopListener(StopListener&& other) noexcept
    : state_(std::move(other.state_)), id_(std::exchange(other.id_, 0)) {}

StopListener& StopListener::operator=(StopListener&& other) noexcept {
  if (this == &other) return *this;
  forget();
  state_ = std::move(other.state_);
  id_ = std::exchange(other.id_, 0);
  return *this;
}

void StopListener::forget() noexcept {
  if (!state_) return;
  std::function<void()> dropped;  // destroyed without the mutex
  {
    StopState::Listeners& here = state_->listeners();
    MutexLock lock(here.mutex);
    const auto found = here.by_id.find(id_);
    if (found != here.by_id.end()) {
      dropped = std::move(found->second);
      here.by_id.erase(found);
    }
  }
  state_.reset();
}

}  // namespace zkrecipes::detail
