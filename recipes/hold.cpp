// SPDX-License-Identifier: Apache-2.0
#include "recipes/hold.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "recipes/lock_error.h"
#include "recipes/node_data.h"
#include "recipes/retention.h"
#include "recipes/waiting_call.h"

namespace zkrecipes::detail {

namespace {

const char* describe(LossReason reason, bool has_several_nodes) {
  switch (reason) {
    case LossReason::lease_over:
      return "its lease ran out before the server answered";
    case LossReason::session_expired:
      return "its session is over";
    case LossReason::node_deleted:
      return has_several_nodes ? "somebody has deleted one of its nodes" : "somebody has deleted its node";
    case LossReason::connection_closed:
      return "its connection was closed";
  }
  return "unknown";
}

/// Of a session that is over.
LossReason reason_of(const Session& session) {
  if (session.ended_by_close()) return LossReason::connection_closed;
  return session.lease().ran_out() ? LossReason::lease_over : LossReason::session_expired;
}

}  // namespace

HeldNode::HeldNode(Grant grant) : grant_(std::move(grant)) {}

std::shared_ptr<HeldNode> HeldNode::make(Grant grant) {
  auto held = make_unwatched(std::move(grant));
  held->watch_over();
  return held;
}

std::shared_ptr<HeldNode> HeldNode::make_unwatched(Grant grant) {
  return std::shared_ptr<HeldNode>(new HeldNode(std::move(grant)));
}

HeldNode::~HeldNode() {
  release_in_background();
}

void HeldNode::watch_over() {
  if (grant_.retained) return;
  const auto over = [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self) self->lose(reason_of(*self->grant_.session));
  };
  const auto gone = [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->lose(LossReason::node_deleted);
  };
  const auto listener = grant_.session->on_later_over(over);
  // Whoever makes the hold may have a mutex locked, with which the program's log must not be called.
  if (listener == 0) grant_.client->run_at(grant_.client->world().now(), over);
  // Where the name is not unique the czxid tells our node from the next holder's.
  boost::container::small_vector<ProbeId, 1> probes;
  for (std::size_t i = 0; i < node_count(); ++i)
    probes.push_back(grant_.client->probe(grant_.session, node(i), NodeRole::holds, grant_.shared_czxid, gone));
  {
    MutexLock lock(mutex_);
    session_listener_ = listener;
    probes_ = std::move(probes);
    if (grant_.on_revoke) revocation_watches_.resize(node_count());
  }
  if (!grant_.on_revoke) return;
  for (std::size_t i = 0; i < node_count(); ++i) watch_for_revocation(i);
}

void HeldNode::watch_for_revocation(std::size_t index) {
  const auto event = [weak = weak_from_this(), index](WatchEvent what) {
    const auto self = weak.lock();
    if (!self || self->released()) return;
    if (what == WatchEvent::deleted)
      self->lose();
    else
      self->watch_for_revocation(index);
  };
  const auto seen = [weak = weak_from_this()](const Reply& reply) {
    const auto self = weak.lock();
    if (!self || self->released()) return;
    const bool replaced =
        reply.status == Status::ok && self->grant_.shared_czxid != 0 && reply.stat.czxid != self->grant_.shared_czxid;
    if (reply.status == Status::no_node || replaced) return self->lose();
    if (reply.status == Status::ok && asks_to_revoke(reply.data) &&
        (!self->grant_.on_revoke_asked || self->grant_.on_revoke_asked()))
      self->post_revocation();
    if (reply.status != Status::ok && reply.status != Status::session_over && reply.status != Status::closed)
      self->grant_.client->log()->warning("on_revoke of lock node " + self->grant_.node +
                                          " will not be called: the node cannot be watched (" +
                                          to_string(reply.status) + ")");
  };
  const auto watch = grant_.client->watch_node(grant_.session, node(index), event, seen);
  MutexLock lock(mutex_);
  revocation_watches_[index] = watch;
  if (!released()) return;
  lock.unlock();
  stop_watching();  // released while the watch was being set
}

/// The task owns what it needs and not this object: a thread of the program's executor, which runs it, should not be
/// the last owner of the client and so of the executor.
void HeldNode::post_revocation() {
  grant_.client->callbacks().post(
      [on_revoke = grant_.on_revoke, node = grant_.node, released_at = released_at_, log = grant_.client->log()] {
        if (released_at->load() == kNever) call_guarded(*log, "a callback of on_revoke", [&] { on_revoke(node); });
      });
}

void HeldNode::stop_watching() {
  MutexLock lock(mutex_);
  const auto listener = std::exchange(session_listener_, 0);
  const auto probes = std::exchange(probes_, {});
  std::vector<WatchId> watches(revocation_watches_.size());
  watches.swap(revocation_watches_);
  lock.unlock();
  if (listener != 0) grant_.session->forget(listener);
  for (const ProbeId probe : probes) grant_.client->unprobe(probe);
  for (const WatchId watch : watches)
    if (watch != 0) grant_.client->unwatch(watch);
}

bool HeldNode::is_valid() const noexcept {
  return !released() && !lost() && !grant_.client->in_forked_child() &&
         grant_.session->lease().is_valid(grant_.client->world().lease_now());
}

Clock::time_point HeldNode::valid_until() const noexcept {
  return std::min(
      {grant_.client->world().to_public(grant_.session->lease().valid_until()), lost_at_.load(), released_at_->load()});
}

Subscription HeldNode::on_lost(std::function<void()> callback) {
  if (!callback) throw std::invalid_argument("zkrecipes: on_lost: the callback is empty");
  if (grant_.client->in_forked_child()) grant_.client->check_usable();  // throws
  grant_.client->notices().start();
  const auto slot =
      std::make_shared<CallbackSlot<>>("a callback of on_lost", std::move(callback), grant_.client->log());
  MutexLock lock(mutex_);
  if (!lost())
    subscribers_.add(slot);
  else
    post_loss(slot);
  return Slot::subscription(slot);
}

void HeldNode::post_loss(const std::shared_ptr<CallbackSlot<>>& slot) {
  const auto call = [slot] {
    slot->call();
    slot->disconnect();  // nothing follows, so what the callback owns is not needed any more
  };
  grant_.client->notices().post(call, shared_from_this());
}

bool HeldNode::hand_subscribers_to(HeldNode& heir) {
  MutexLock lock(mutex_);
  MutexLock heirs_lock(heir.mutex_);
  if (lost() || released() || heir.lost() || heir.released()) return false;
  for (const auto& slot : subscribers_.take()) heir.subscribers_.add(slot);
  return true;
}

void HeldNode::lose(LossReason reason) {
  std::vector<std::shared_ptr<CallbackSlot<>>> slots;
  const std::string text = describe(reason, node_count() > 1);
  {
    MutexLock lock(mutex_);
    if (released() || lost()) return;
    loss_ = reason;
    lost_at_.store(grant_.client->world().now());
    slots = subscribers_.take();
    if (grant_.observed) grant_.observed->lost(reason, text);
  }
  if (grant_.on_loss) return grant_.on_loss(reason);
  grant_.client->log()->warning("hold lost: node " + grant_.node + ", token " + grant_.token.to_string() + ": " + text);
  for (const auto& slot : slots) post_loss(slot);
  tell_observer();
}

Error HeldNode::lost_error() const {
  return {ErrorCode::session_lost, "lock node " + grant_.node +
                                       " was lost before it was released: " + describe(loss_, node_count() > 1) +
                                       "; treat the work since then as not protected"};
}

/// A lost node is gone. Where its name was not unique, the next holder's may stand in its place and is not ours to
/// remove.
bool HeldNode::place_is_anothers() const noexcept {
  return lost() && grant_.shared_czxid != 0;
}

/// False when somebody has released it before. Under the mutex, as lose(): the log, the subscribers and the observer
/// agree on which of the two was first.
bool HeldNode::begin_release() noexcept {
  MutexLock lock(mutex_);
  auto never = kNever;
  if (!released_at_->compare_exchange_strong(never, grant_.client->world().now())) return false;
  if (grant_.observed) grant_.observed->released();
  return true;
}

void HeldNode::remove_nodes(const std::function<void(Status)>& done) {
  if (node_count() == 1) return grant_.client->remove(grant_.session, grant_.node, grant_.shared_czxid, done);
  struct Removals {
    std::atomic<std::size_t> left{0};
    std::atomic<Status> status{Status::ok};
  };
  const auto removals = std::make_shared<Removals>();
  removals->left = node_count();
  const auto removed = [removals, done](Status status) {
    if (status != Status::ok) removals->status = status;
    if (--removals->left == 0 && done) done(removals->status);
  };
  for (std::size_t i = 0; i < node_count(); ++i)
    grant_.client->remove(grant_.session, node(i), grant_.shared_czxid, removed);
}

void HeldNode::release_in_background() noexcept {
  release_unobserved();
  tell_observer();
}

void HeldNode::release_unobserved() noexcept {
  if (grant_.client->in_forked_child() || !begin_release()) return;
  if (grant_.retained) return grant_.retained->returned();
  stop_watching();
  if (place_is_anothers()) return;
  remove_nodes(nullptr);
}

bool HeldNode::release_confirmed(Clock::time_point deadline) {
  // The next in line does not wait for the observer.
  return released() || release_confirmed(deadline, [this] { tell_observer(); });
}

bool HeldNode::release_confirmed(Clock::time_point deadline, const std::function<void()>& sent) {
  grant_.client->check_may_block();
  if (!begin_release()) {
    sent();
    return true;
  }
  if (grant_.retained) return grant_.retained->remove_confirmed(deadline, sent);
  stop_watching();
  const WaitingCall<Status> call;
  const bool is_gone = place_is_anothers();
  if (!is_gone) remove_nodes([call](Status status) { call.deliver(status); });
  sent();
  if (is_gone) throw lost_error();
  const std::optional<Status> status = call.wait_until(deadline);
  if (!status) return false;
  if (lost() || *status == Status::session_over) throw lost_error();
  if (*status != Status::ok) std::rethrow_exception(lock_error(*status, grant_.node, *grant_.client));
  return true;
}

}  // namespace zkrecipes::detail

namespace zkrecipes {

Hold::Hold() noexcept = default;

Hold::Hold(std::shared_ptr<detail::HeldNode> node) noexcept : node_(std::move(node)) {}

Hold::~Hold() {
  if (node_) node_->release_in_background();
}

Hold::Hold(Hold&&) noexcept = default;

Hold& Hold::operator=(Hold&& other) noexcept {
  if (this == &other) return *this;
  // Released last: the observer, which hears of it here, may destroy this object.
  const auto former = std::exchange(node_, std::move(other.node_));
  if (former) former->release_in_background();
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
  if (node_) return node_->grant().node;
  static const auto* const no_node = new std::string;  // never destroyed: a static Hold may live longer
  return *no_node;
}

AcquisitionCost Hold::cost() const noexcept {
  return node_ ? node_->grant().cost : AcquisitionCost{};
}

Subscription Hold::on_lost(std::function<void()> callback) const {
  if (!node_) throw std::logic_error("zkrecipes: on_lost() of an empty hold");
  return node_->on_lost(std::move(callback));
}

void Hold::release() {
  release_by(Clock::time_point::max());
}

bool Hold::release_by(Clock::time_point deadline) {
  const auto node = node_;  // kept alive here: the observer may destroy this object
  return !node || node->release_confirmed(deadline);
}

}  // namespace zkrecipes
