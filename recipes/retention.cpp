// SPDX-License-Identifier: Apache-2.0
#include "recipes/retention.h"

#include <utility>

#include "recipes/queue_rule.h"

namespace zkrecipes::detail {

RetainedNode::RetainedNode(Grant grant, std::chrono::nanoseconds how_long)
    : grant_(std::move(grant)), how_long_(how_long) {}

RetainedNode::~RetainedNode() {
  if (grant_.client->in_forked_child()) return;
  state_ = State::over;
  stop_listening();
}

std::shared_ptr<RetainedNode> RetainedNode::make(Grant grant, std::chrono::nanoseconds how_long) {
  std::shared_ptr<RetainedNode> made(new RetainedNode(std::move(grant), how_long));
  made->watch_over();
  return made;
}

void RetainedNode::watch_over() {
  Grant keeper = grant_;
  keeper.on_revoke_asked = [weak = weak_from_this()] {
    const auto self = weak.lock();
    return self && self->revoke_asked();
  };
  keeper.on_loss = [weak = weak_from_this()](LossReason reason) {
    if (const auto self = weak.lock()) self->lost(reason);
  };
  node_ = HeldNode::make_unwatched(std::move(keeper));
  node_->watch_over();
  listen_for_newcomers();
}

// ---- Others ----

void RetainedNode::listen_for_newcomers() {
  const auto watch = grant_.client->watch_children(
      grant_.session, parent_of(grant_.node),
      [weak = weak_from_this()](WatchEvent) {
        if (const auto self = weak.lock()) self->retire();
      },
      [weak = weak_from_this()](const Reply& reply) {
        if (const auto self = weak.lock()) self->listed(reply);
      });
  MutexLock lock(mutex_);
  watch_ = watch;
  if (!wanted_ && state_ != State::over) return;
  lock.unlock();
  stop_listening();  // the answer was quicker
}

void RetainedNode::listed(const Reply& reply) {
  // Without the watch we would not hear of newcomers.
  if (reply.status != Status::ok || !judge(reply.children, name_of(grant_.node), grant_.kind, {}).alone) retire();
}

/// Also when another contender has come, as far as we can tell: the children have changed. To list again, so as to know
/// for certain, would cost the newcomer a round trip.
void RetainedNode::retire() noexcept {
  bool was_idle = false;
  {
    MutexLock lock(mutex_);
    was_idle = refuse_idleness();
  }
  if (was_idle)
    remove();
  else
    stop_listening();
}

/// Whether there is a hold that the program may be asked to release. An idle node is given up without asking.
bool RetainedNode::revoke_asked() {
  retire();
  MutexLock lock(mutex_);
  return state_ == State::held;
}

void RetainedNode::lost(LossReason reason) {
  State before{};
  std::shared_ptr<HeldNode> hold;
  {
    MutexLock lock(mutex_);
    before = std::exchange(state_, State::over);
    loss_ = reason;
    hold = hold_.lock();
  }
  // The release of a hold removes what may be left of the node, and says that the hold was lost.
  if (before == State::idle) remove();
  if (before == State::held && hold) hold->lose(reason);
}

// ---- Holds ----

std::shared_ptr<HeldNode> RetainedNode::make_hold(const AcquisitionCost& cost, ObservedAttemptPtr observed) {
  Grant grant;
  grant.client = grant_.client;
  grant.session = grant_.session;
  grant.node = grant_.node;
  grant.kind = grant_.kind;
  grant.token = grant_.token;
  grant.cost = cost;
  grant.retained = shared_from_this();
  grant.observed = std::move(observed);
  auto hold = HeldNode::make(std::move(grant));
  hold_ = hold;
  return hold;
}

std::shared_ptr<HeldNode> RetainedNode::first_hold(const AcquisitionCost& cost, ObservedAttemptPtr observed) {
  MutexLock lock(mutex_);
  auto hold = make_hold(cost, std::move(observed));
  if (state_ == State::over)  // lost meanwhile; the caller may hold a mutex, so that is announced elsewhere
    grant_.client->run_at(grant_.client->world().now(), [weak = hold_, reason = loss_] {
      if (const auto lost = weak.lock()) lost->lose(reason);
    });
  return hold;
}

std::shared_ptr<HeldNode> RetainedNode::take(const ObservedAttemptPtr& observed) {
  {
    MutexLock lock(mutex_);
    if (state_ != State::idle) return nullptr;
    if (node_->is_valid() && grant_.client->world().now() - idle_since_ < how_long_) {
      state_ = State::held;
      if (observed) observed->acquired(grant_.token, {});
      return make_hold({}, observed);
    }
    state_ = State::over;
  }
  remove();
  return nullptr;
}

void RetainedNode::returned() noexcept {
  {
    MutexLock lock(mutex_);
    if (state_ == State::held && !wanted_ && node_->is_valid()) {
      state_ = State::idle;
      idle_since_ = grant_.client->world().now();
      start_timer();
      return;
    }
    state_ = State::over;
  }
  remove();
}

bool RetainedNode::remove_confirmed(Clock::time_point deadline, const std::function<void()>& sent) {
  {
    MutexLock lock(mutex_);
    state_ = State::over;
  }
  stop_listening();
  return node_->release_confirmed(deadline, sent);
}

bool RetainedNode::refuse_idleness() {
  wanted_ = true;
  if (state_ != State::idle) return false;
  state_ = State::over;
  return true;
}

// ---- Time ----

void RetainedNode::start_timer() {
  if (timer_ != 0) return;
  timer_ = grant_.client->run_at(idle_since_ + how_long_, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->idle_time_over();
  });
}

void RetainedNode::idle_time_over() {
  {
    MutexLock lock(mutex_);
    timer_ = 0;
    if (state_ != State::idle) return;
    if (grant_.client->world().now() < idle_since_ + how_long_) return start_timer();  // was held meanwhile
    state_ = State::over;
  }
  remove();
}

// ---- The end ----

void RetainedNode::remove() noexcept {
  stop_listening();
  node_->release_in_background();
}

void RetainedNode::stop_listening() noexcept {
  WatchId watch = 0;
  TimerId timer = 0;
  {
    MutexLock lock(mutex_);
    watch = std::exchange(watch_, 0);
    if (state_ == State::over) timer = std::exchange(timer_, 0);
  }
  if (watch != 0) grant_.client->unwatch(watch);
  if (timer != 0) grant_.client->cancel_timer(timer);
}

// ---- Of a lock object ----

std::shared_ptr<HeldNode> Retention::granted(Grant grant) {
  const AcquisitionCost cost = grant.cost;
  ObservedAttemptPtr observed = std::exchange(grant.observed, nullptr);  // of the hold, not of the node
  const auto node = RetainedNode::make(std::move(grant), how_long_);
  auto hold = node->first_hold(cost, std::move(observed));
  std::shared_ptr<RetainedNode> retired = node;
  {
    MutexLock lock(mutex_);
    if (!closed_) retired = std::exchange(newest_, node);
  }
  if (retired) retired->retire();
  return hold;
}

std::shared_ptr<HeldNode> Retention::take(const ObservedAttemptPtr& observed) {
  MutexLock lock(mutex_);
  const auto node = newest_;
  lock.unlock();
  return node ? node->take(observed) : nullptr;
}

void Retention::close() noexcept {
  std::shared_ptr<RetainedNode> node;
  {
    MutexLock lock(mutex_);
    closed_ = true;
    node = std::move(newest_);
  }
  if (node) node->retire();
}

}  // namespace zkrecipes::detail
