// SPDX-License-Identifier: Apache-2.0
#include "recipes/hold.h"

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
  const auto lost = [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->lose();
  };
  // Not under the mutex: a session that is over already calls back at once.
  const auto listener = grant_.session->on_over(lost);
  // Where the name is not unique the czxid tells our node from the next holder's.
  const auto probe = grant_.client->probe(grant_.session, grant_.node, grant_.role, grant_.shared_czxid, lost);
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
      self->grant_.client->callbacks().post([self] { self->grant_.on_revoke(self->grant_.node); });
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
  return !released_.load() && !lost_.load() && !grant_.client->in_forked_child() &&
         grant_.session->lease().is_valid(connection::LeaseClock::now());
}

Clock::time_point HeldNode::valid_until() const noexcept {
  const auto until = connection::to_public(grant_.session->lease().valid_until());
  return lost_.load() ? std::min(until, lost_at_.load()) : until;
}

Subscription HeldNode::on_lost(std::function<void()> callback) {
  if (!callback) throw std::invalid_argument("zkrecipes: on_lost: the callback is empty");
  // Caught here, so that one callback cannot keep the news from the others.
  const auto guarded = [callback = std::move(callback)] {
    try {
      callback();
    } catch (const std::exception& error) {
      LOG(ERROR) << "zkrecipes: a callback of on_lost threw: " << error.what();
    } catch (...) {
      LOG(ERROR) << "zkrecipes: a callback of on_lost threw";
    }
  };
  std::lock_guard<std::mutex> lock(mutex_);
  if (!lost_.load()) {
    if (!signal_) signal_ = std::make_unique<Signal>();
    return signal_->connect(guarded);
  }
  const auto late = std::make_shared<Signal>();
  auto subscription = late->connect(guarded);
  grant_.client->callbacks().post([late] { (*late)(); });
  return subscription;
}

void HeldNode::lose() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (released_.load() || lost_.load()) return;
  lost_at_.store(Clock::now());
  lost_.store(true);
  if (signal_) grant_.client->callbacks().post([self = shared_from_this()] { (*self->signal_)(); });
}

/// A lost node is gone. Where its name was not unique, the next holder's may stand in its place and is not ours to
/// remove.
bool HeldNode::place_is_anothers() const noexcept {
  return lost_.load() && grant_.shared_czxid != 0;
}

void HeldNode::release_in_background() noexcept {
  if (grant_.client->in_forked_child() || released_.exchange(true)) return;
  stop_watching();
  if (place_is_anothers()) return;
  grant_.client->remove(grant_.session, grant_.node, grant_.shared_czxid, nullptr);
}

void HeldNode::release_confirmed() {
  grant_.client->check_may_block();
  if (released_.exchange(true)) return;
  stop_watching();
  if (place_is_anothers())
    throw Error(ErrorCode::session_lost, "lock node " + grant_.node + " was lost before it was released");
  const WaitingCall<Status> call;
  grant_.client->remove(grant_.session, grant_.node, grant_.shared_czxid,
                        [call](Status status) { call.deliver(status); });
  const Status status = call.wait();
  if (status != Status::ok) std::rethrow_exception(lock_error(status, grant_.node, *grant_.client));
  if (lost_.load())
    throw Error(ErrorCode::session_lost, "lock node " + grant_.node + " was lost before it was released");
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
