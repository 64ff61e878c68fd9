// SPDX-License-Identifier: Apache-2.0
#include "recipes/hold.h"

#include <algorithm>
#include <glog/logging.h>
#include <stdexcept>
#include <utility>

#include "recipes/lock_error.h"
#include "recipes/node_data.h"
#include "recipes/waiting_call.h"

namespace zkrecipes::recipes {

using connection::Reply;
using connection::Status;
using connection::WatchEvent;

namespace {

const char* to_string(LossReason reason) {
  switch (reason) {
    case LossReason::session_over:
      return "its session is over";
    case LossReason::lease_ran_out:
      return "its lease ran out before the server answered";
    case LossReason::node_deleted:
      return "somebody has deleted its node";
  }
  return "unknown";
}

}  // namespace

HeldNode::HeldNode(Grant grant) : grant_(std::move(grant)) {}

std::shared_ptr<HeldNode> HeldNode::make(Grant grant) {
  std::shared_ptr<HeldNode> held(new HeldNode(std::move(grant)));
  held->watch_over();
  return held;
}

HeldNode::~HeldNode() {
  release_in_background();
}

void HeldNode::watch_over() {
  const auto over = [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->lose(self->grant_.session->lease().ran_out() ? LossReason::lease_ran_out : LossReason::session_over);
  };
  const auto gone = [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->lose(LossReason::node_deleted);
  };
  // Not under the mutex: a session that is over already calls back at once.
  const auto listener = grant_.session->on_over(over);
  // Where the name is not unique the czxid tells our node from the next holder's.
  const auto probe = grant_.client->probe(grant_.session, grant_.node, grant_.role, grant_.shared_czxid, gone);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    session_listener_ = listener;
    probe_ = probe;
  }
  if (grant_.on_revoke) watch_for_revocation();
}

void HeldNode::watch_for_revocation() {
  const auto event = [weak = weak_from_this()](WatchEvent what) {
    const auto self = weak.lock();
    if (!self || self->released()) return;
    if (what == WatchEvent::deleted)
      self->lose();
    else
      self->watch_for_revocation();
  };
  const auto seen = [weak = weak_from_this()](const Reply& reply) {
    const auto self = weak.lock();
    if (!self || self->released()) return;
    const bool replaced =
        reply.status == Status::ok && self->grant_.shared_czxid != 0 && reply.stat.czxid != self->grant_.shared_czxid;
    if (reply.status == Status::no_node || replaced) return self->lose();
    if (reply.status == Status::ok && asks_to_revoke(reply.data))
      self->grant_.client->callbacks().post([self] {
        if (!self->released()) self->grant_.on_revoke(self->grant_.node);
      });
    if (reply.status != Status::ok && reply.status != Status::session_over && reply.status != Status::closed)
      LOG(WARNING) << "zkrecipes: on_revoke of lock node " << self->grant_.node
                   << " will not be called: the node cannot be watched (" << to_string(reply.status) << ")";
  };
  const auto watch = grant_.client->watch_node(grant_.session, grant_.node, event, seen);
  std::unique_lock<std::mutex> lock(mutex_);
  revocation_watch_ = watch;
  if (!released()) return;
  lock.unlock();
  stop_watching();  // released while the watch was being set
}

void HeldNode::stop_watching() {
  std::unique_lock<std::mutex> lock(mutex_);
  const auto listener = std::exchange(session_listener_, 0);
  const auto probe = std::exchange(probe_, 0);
  const auto watch = std::exchange(revocation_watch_, 0);
  lock.unlock();
  if (listener != 0) grant_.session->forget(listener);
  if (probe != 0) grant_.client->unprobe(probe);
  if (watch != 0) grant_.client->unwatch(watch);
}

bool HeldNode::is_valid() const noexcept {
  return !released() && !lost() && !grant_.client->in_forked_child() &&
         grant_.session->lease().is_valid(connection::LeaseClock::now());
}

Clock::time_point HeldNode::valid_until() const noexcept {
  return std::min({connection::to_public(grant_.session->lease().valid_until()), lost_at_.load(), released_at_.load()});
}

Subscription HeldNode::on_lost(std::function<void()> callback) {
  if (!callback) throw std::invalid_argument("zkrecipes: on_lost: the callback is empty");
  // Guarded each, so that one callback cannot keep the news from the others.
  const auto guarded = [callback = std::move(callback)] {
    connection::call_guarded("a callback of on_lost", callback);
  };
  std::lock_guard<std::mutex> lock(mutex_);
  if (!lost()) {
    if (!signal_) signal_ = std::make_unique<Signal>();
    return signal_->connect(guarded);
  }
  const auto late = std::make_shared<Signal>();
  auto subscription = late->connect(guarded);
  grant_.client->notices().post([self = shared_from_this(), late] { (*late)(); });
  return subscription;
}

void HeldNode::lose(LossReason reason) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (released() || lost()) return;
    lost_at_.store(Clock::now());
  }
  if (grant_.role == connection::NodeRole::holds)
    LOG(WARNING) << "zkrecipes: hold lost: node " << grant_.node << ", token " << grant_.token << ": "
                 << to_string(reason);
  // Nobody joins the signal of a lost hold, so it needs no mutex any more.
  if (signal_) grant_.client->notices().post([self = shared_from_this()] { (*self->signal_)(); });
}

/// A lost node is gone. Where its name was not unique, the next holder's may stand in its place and is not ours to
/// remove.
bool HeldNode::place_is_anothers() const noexcept {
  return lost() && grant_.shared_czxid != 0;
}

/// False when somebody has released it before.
bool HeldNode::begin_release() noexcept {
  auto never = kNever;
  return released_at_.compare_exchange_strong(never, Clock::now());
}

void HeldNode::release_in_background() noexcept {
  if (grant_.client->in_forked_child() || !begin_release()) return;
  stop_watching();
  if (place_is_anothers()) return;
  grant_.client->remove(grant_.session, grant_.node, grant_.shared_czxid, nullptr);
}

void HeldNode::release_confirmed() {
  grant_.client->check_may_block();
  if (!begin_release()) return;
  stop_watching();
  if (place_is_anothers())
    throw Error(ErrorCode::session_lost, "lock node " + grant_.node + " was lost before it was released");
  const WaitingCall<Status> call;
  grant_.client->remove(grant_.session, grant_.node, grant_.shared_czxid,
                        [call](Status status) { call.deliver(status); });
  const Status status = call.wait();
  if (status != Status::ok) std::rethrow_exception(lock_error(status, grant_.node, *grant_.client));
  if (lost()) throw Error(ErrorCode::session_lost, "lock node " + grant_.node + " was lost before it was released");
}

}  // namespace zkrecipes::recipes

namespace zkrecipes {

namespace {
const std::string kNoNode;
}

Hold::Hold() noexcept = default;

Hold::Hold(std::shared_ptr<recipes::HeldNode> node) noexcept : node_(std::move(node)) {}

Hold::~Hold() {
  if (node_) node_->release_in_background();
}

Hold::Hold(Hold&&) noexcept = default;

Hold& Hold::operator=(Hold&& other) noexcept {
  if (this == &other) return *this;
  if (node_) node_->release_in_background();
  node_ = std::move(other.node_);
  return *this;
}

Hold::operator bool() const noexcept {
  return node_ && !node_->released();
}

bool Hold::is_valid() const noexcept {
  return node_ && node_->is_valid();
}

Clock::time_point Hold::valid_until() const noexcept {
  return node_ ? node_->valid_until() : Clock::time_point::min();
}

FencingToken Hold::token() const noexcept {
  return node_ ? node_->grant().token : FencingToken{};
}

const std::string& Hold::node() const noexcept {
  return node_ ? node_->grant().node : kNoNode;
}

AcquisitionCost Hold::cost() const noexcept {
  return node_ ? node_->grant().cost : AcquisitionCost{};
}

Subscription Hold::on_lost(std::function<void()> callback) const {
  if (!node_) throw Error(ErrorCode::not_held, "on_lost() of an empty hold");
  return node_->on_lost(std::move(callback));
}

void Hold::release() {
  if (node_) node_->release_confirmed();
}

}  // namespace zkrecipes
