// SPDX-License-Identifier: Apache-2.0
#include "recipes/queue_ticket.h"

#include <utility>

#include "recipes/lock_error.h"

namespace zkrecipes::recipes {

using connection::CreatedNode;
using connection::CreateSpec;
using connection::NameList;
using connection::Reply;
using connection::SessionPtr;
using connection::Status;
using connection::WatchEvent;

QueueTicket::QueueTicket(std::shared_ptr<connection::Client> client, std::shared_ptr<const QueueSpec> spec,
                         Patience patience)
    : client_(std::move(client)), spec_(std::move(spec)), patience_(patience) {}

// ---- Joining ----

void QueueTicket::join(OutcomeHandler done) {
  {
    Lock lock(mutex_);
    done_ = std::move(done);
  }
  // Nothing is sent while suspended: what is given up meanwhile would leave its requests waiting for the connection.
  if (SessionPtr session = client_->is_connected() ? client_->current_session() : nullptr)
    begin(std::move(session));
  else
    await_session();
}

void QueueTicket::await_session() {
  // Under the lock, so that a leave() finds the id. The client never completes on this thread.
  Lock lock(mutex_);
  if (!done_) return;
  awaited_session_ = client_->await_session([self = shared_from_this()](Status status, SessionPtr session) {
    if (status == Status::ok) return self->begin(std::move(session));
    Lock own_lock(self->mutex_);
    if (self->done_) self->finish(own_lock, {nullptr, lock_error(status, self->spec_->path, *self->client_)});
  });
}

void QueueTicket::begin(SessionPtr session) {
  const auto attempt = std::make_shared<Attempt>();
  attempt->session = std::move(session);
  attempt->guid = connection::make_guid();
  {
    Lock lock(mutex_);
    if (!done_) return;
    attempt_ = attempt;
  }
  const auto over = [weak = weak_from_this(), attempt] {
    const auto self = weak.lock();
    if (!self) return;
    Lock lock(self->mutex_);
    if (self->is_current(attempt)) self->rejoin(lock, attempt);
  };
  const auto listener = attempt->session->on_over(over);
  {
    Lock lock(mutex_);
    attempt->session_listener = listener;
    if (!is_current(attempt)) return abandon(lock, attempt);
  }
  if (patience_ == Patience::try_once)
    look_before_joining(attempt);
  else
    send_create_and_list(attempt);
}

void QueueTicket::look_before_joining(const AttemptPtr& attempt) {
  client_->list(attempt->session, spec_->path, [self = shared_from_this(), attempt](Reply reply) {
    {
      Lock lock(self->mutex_);
      if (!self->is_current(attempt)) return;
      ++self->cost_.requests;
      if (reply.status == Status::session_over || would_wait(reply.children, self->spec_->kind))
        return self->fail(lock, attempt, nullptr);
      if (reply.status != Status::ok && reply.status != Status::no_node)
        return self->fail(lock, attempt, lock_error(reply.status, self->spec_->path, *self->client_));
    }
    self->send_create_and_list(attempt);
  });
}

void QueueTicket::send_create_and_list(const AttemptPtr& attempt) {
  CreateSpec create;
  create.parent = spec_->path;
  create.name = protected_name(attempt->guid, spec_->kind);
  create.guid = attempt->guid;
  create.data = client_->identity();
  if (spec_->options.version_token) create.parent_mode = connection::CreateMode::persistent;
  {
    Lock lock(mutex_);
    if (!is_current(attempt)) return;
    create.stale_guid = std::exchange(stale_guid_, {});
    cost_.requests += 2;
  }
  client_->create(attempt->session, std::move(create),
                  [self = shared_from_this(), attempt](Status status, CreatedNode node) {
                    self->on_created(attempt, status, std::move(node));
                  });
  client_->list(attempt->session, spec_->path, [self = shared_from_this(), attempt](Reply reply) {
    self->on_first_listing(attempt, std::move(reply));
  });
}

void QueueTicket::on_created(const AttemptPtr& attempt, Status status, CreatedNode node) {
  Lock lock(mutex_);
  if (status == Status::ok) {
    attempt->node = std::move(node.path);
    attempt->czxid = node.stat.czxid;
    if (!is_current(attempt)) return abandon(lock, attempt);
    return decide_when_complete(lock, attempt);
  }
  if (!is_current(attempt)) return;
  if (status == Status::session_over) return rejoin(lock, attempt);
  fail(lock, attempt, lock_error(status, spec_->path, *client_));
}

void QueueTicket::on_first_listing(const AttemptPtr& attempt, Reply reply) {
  Lock lock(mutex_);
  if (!is_current(attempt)) return;
  attempt->listed = true;
  attempt->children = std::move(reply.children);
  attempt->parent = reply.stat;
  decide_when_complete(lock, attempt);
}

void QueueTicket::decide_when_complete(Lock& lock, const AttemptPtr& attempt) {
  if (attempt->node.empty() || !attempt->listed) return;
  const Verdict verdict = judge_place(attempt, std::exchange(attempt->children, {}));
  if (verdict.kind != Verdict::Kind::gone) return act_on(lock, attempt, verdict);
  // Listed before the node was there: its parents were missing, or the reply was lost.
  lock.unlock();
  list_again(attempt);
}

Verdict QueueTicket::judge_place(const AttemptPtr& attempt, const NameList& children) const {
  return judge(children, connection::name_of(attempt->node), spec_->kind, attempt->guid);
}

// ---- Waiting ----

void QueueTicket::list_again(const AttemptPtr& attempt) {
  client_->list(attempt->session, spec_->path, [self = shared_from_this(), attempt](Reply reply) {
    Lock lock(self->mutex_);
    if (!self->is_current(attempt)) return;
    ++self->cost_.requests;
    attempt->parent = reply.stat;
    if (reply.status == Status::ok) return self->act_on(lock, attempt, self->judge_place(attempt, reply.children));
    if (reply.status == Status::no_node || reply.status == Status::session_over) return self->rejoin(lock, attempt);
    self->fail(lock, attempt, lock_error(reply.status, self->spec_->path, *self->client_));
  });
}

void QueueTicket::act_on(Lock& lock, const AttemptPtr& attempt, const Verdict& verdict) {
  for (const std::string& stray : verdict.strays)
    client_->remove(attempt->session, connection::join(spec_->path, stray), {}, nullptr);
  if (!std::exchange(positioned_, true)) cost_.queue_position = verdict.ahead;
  switch (verdict.kind) {
    case Verdict::Kind::holds:
      if (counts_holds()) return raise_version(lock, attempt);
      return grant(lock, attempt, Proof::listing, 0);
    case Verdict::Kind::waits:
      if (patience_ == Patience::try_once) return fail(lock, attempt, nullptr);
      return watch(lock, attempt, verdict);
    case Verdict::Kind::gone:
      return rejoin(lock, attempt);
    case Verdict::Kind::overflow:
      return fail(lock, attempt, sequence_error(spec_->path));
  }
}

void QueueTicket::watch(Lock& lock, const AttemptPtr& attempt, const Verdict& verdict) {
  attempt->proof_by_deletion = verdict.proof_by_deletion;
  ++cost_.requests;
  // Under the lock, so that neither the answer nor a leave() can come before the watch is known. The client never
  // completes on this thread.
  attempt->watch = client_->watch_node(
      attempt->session, connection::join(spec_->path, verdict.watch),
      [self = shared_from_this(), attempt](WatchEvent event) { self->on_predecessor_event(attempt, event); },
      [self = shared_from_this(), attempt](const Reply& reply) { self->on_watch_set(attempt, reply); });
  if (attempt->probe == 0)
    attempt->probe = client_->probe(attempt->session, attempt->node, connection::NodeRole::waits, 0,
                                    [weak = weak_from_this(), attempt] {
                                      const auto self = weak.lock();
                                      if (!self) return;
                                      Lock own_lock(self->mutex_);
                                      if (self->is_current(attempt)) self->rejoin(own_lock, attempt);
                                    });
  lock.unlock();
}

void QueueTicket::on_watch_set(const AttemptPtr& attempt, const Reply& reply) {
  if (reply.status == Status::ok) return;
  // It went between listing and watching: as good as its event.
  if (reply.status == Status::no_node) return on_predecessor_event(attempt, WatchEvent::deleted);
  Lock lock(mutex_);
  if (!is_current(attempt)) return;
  if (reply.status == Status::session_over) return rejoin(lock, attempt);
  fail(lock, attempt, lock_error(reply.status, spec_->path, *client_));
}

void QueueTicket::on_predecessor_event(const AttemptPtr& attempt, WatchEvent event) {
  Lock lock(mutex_);
  if (!is_current(attempt)) return;
  attempt->watch = 0;
  ++cost_.wakeups;
  const bool proven = event == WatchEvent::deleted && attempt->proof_by_deletion && !spec_->options.version_token;
  if (proven) return grant(lock, attempt, Proof::deletion, 0);
  lock.unlock();
  list_again(attempt);
}

// ---- The end ----

void QueueTicket::raise_version(Lock& lock, const AttemptPtr& attempt) {
  ++cost_.requests;
  const std::int32_t parent_version = attempt->parent.version;
  lock.unlock();
  // Expects the version of the listing that granted: who was overtaken since cannot raise it.
  client_->set(attempt->session, spec_->path, attempt->guid, parent_version,
               [self = shared_from_this(), attempt](const Reply& reply) {
                 Lock own_lock(self->mutex_);
                 if (!self->is_current(attempt)) return;
                 if (reply.status == Status::ok)
                   return self->grant(own_lock, attempt, Proof::listing, reply.stat.version);
                 if (reply.status == Status::session_over) return self->rejoin(own_lock, attempt);
                 if (reply.status == Status::bad_version || reply.status == Status::no_node) {
                   own_lock.unlock();
                   return self->list_again(attempt);
                 }
                 self->fail(own_lock, attempt, lock_error(reply.status, self->spec_->path, *self->client_));
               });
}

void QueueTicket::prove(Lock& lock, const AttemptPtr& attempt, std::int32_t version) {
  ++cost_.requests;
  const std::string node = attempt->node;
  lock.unlock();
  client_->prove(attempt->session, node, [self = shared_from_this(), attempt, version](Status status) {
    Lock own_lock(self->mutex_);
    if (!self->is_current(attempt)) return;
    if (status == Status::ok) return self->grant(own_lock, attempt, Proof::quorum, version);
    if (status == Status::no_node || status == Status::session_over) return self->rejoin(own_lock, attempt);
    self->fail(own_lock, attempt, lock_error(status, self->spec_->path, *self->client_));
  });
}

void QueueTicket::grant(Lock& lock, const AttemptPtr& attempt, Proof proof, std::int32_t version) {
  // The lease may have run out while we waited, since waiting does not renew it; what proves the turn may also have
  // come late, after a pause of this process.
  const auto now = connection::LeaseClock::now();
  if (spec_->role == connection::NodeRole::holds && proof != Proof::quorum && !attempt->session->is_proved(now))
    return prove(lock, attempt, version);
  if (spec_->role == connection::NodeRole::holds && !attempt->session->lease().covers(now))
    return rejoin(lock, attempt);
  Grant granted;
  granted.client = client_;
  granted.session = attempt->session;
  granted.node = attempt->node;
  granted.kind = spec_->kind;
  granted.token = {attempt->czxid, version};
  granted.role = spec_->role;
  granted.on_revoke = spec_->options.on_revoke;
  cost_.waited = Clock::now() - started_;
  granted.cost = cost_;
  attempt->node.clear();  // the hold's from now on
  const OutcomeHandler done = std::exchange(done_, nullptr);
  abandon(lock, attempt);
  const auto held = HeldNode::make(std::move(granted));
  if (proof == Proof::deletion) {
    // The listing that put us behind one node is old. If somebody has deleted our own node since, we were granted
    // wrongly, and this tells within a round trip.
    client_->exists(held->grant().session, held->grant().node,
                    [weak = std::weak_ptr<HeldNode>(held)](const Reply& reply) {
                      const auto still = weak.lock();
                      if (still && reply.status == Status::no_node) still->lose();
                    });
  }
  done({held, nullptr});
}

void QueueTicket::rejoin(Lock& lock, const AttemptPtr& attempt) {
  attempt_ = nullptr;
  // Whatever is left of this attempt is removed by the next one, if the end of the session does not do it first.
  if (attempt->session->is_over()) {
    stale_guid_ = attempt->guid;
    attempt->node.clear();
  }
  abandon(lock, attempt);
  if (patience_ == Patience::try_once) {
    lock.lock();
    if (done_) finish(lock, {});
    return;
  }
  await_session();
}

void QueueTicket::fail(Lock& lock, const AttemptPtr& attempt, std::exception_ptr error) {
  attempt_ = nullptr;
  const OutcomeHandler done = std::exchange(done_, nullptr);
  abandon(lock, attempt);
  done({nullptr, std::move(error)});
}

void QueueTicket::finish(Lock& lock, Outcome outcome) {
  attempt_ = nullptr;
  const OutcomeHandler done = std::exchange(done_, nullptr);
  lock.unlock();
  done(std::move(outcome));
}

bool QueueTicket::leave() {
  OutcomeHandler dropped;  // destroyed without the lock
  Lock lock(mutex_);
  if (!done_) return false;
  dropped = std::exchange(done_, nullptr);
  const auto awaited = std::exchange(awaited_session_, 0);
  if (const AttemptPtr attempt = std::exchange(attempt_, nullptr)) abandon(lock, attempt);
  if (lock.owns_lock()) lock.unlock();
  if (awaited != 0) client_->cancel_await(awaited);
  return true;
}

/// Takes back what an attempt has set up: node, watch, probe, listener. Called again when a late answer adds to it.
/// Gives the lock back.
void QueueTicket::abandon(Lock& lock, const AttemptPtr& attempt) {
  const auto listener = std::exchange(attempt->session_listener, 0);
  const auto watch = std::exchange(attempt->watch, 0);
  const auto probe = std::exchange(attempt->probe, 0);
  const std::string node = std::exchange(attempt->node, {});
  lock.unlock();
  if (listener != 0) attempt->session->forget(listener);
  if (watch != 0) client_->unwatch(watch);
  if (probe != 0) client_->unprobe(probe);
  if (!node.empty()) client_->remove(attempt->session, node, {}, nullptr);
}

}  // namespace zkrecipes::recipes
