// SPDX-License-Identifier: Apache-2.0
#include "recipes/simple_ticket.h"

#include <utility>

#include "recipes/lock_error.h"
#include "recipes/node_data.h"

namespace zkrecipes::recipes {

using connection::CreatedNode;
using connection::CreateSpec;
using connection::Reply;
using connection::SessionPtr;
using connection::Status;
using connection::WatchEvent;

SimpleTicket::SimpleTicket(std::shared_ptr<connection::Client> client, std::string path, LockOptions options,
                           Patience patience)
    : client_(std::move(client)), path_(std::move(path)), options_(std::move(options)), patience_(patience) {}

void SimpleTicket::join(OutcomeHandler done) {
  {
    Lock lock(mutex_);
    done_ = std::move(done);
  }
  // Nothing is sent while suspended: what is given up meanwhile would leave its requests waiting for the connection.
  if (const SessionPtr session = client_->is_connected() ? client_->current_session() : nullptr)
    begin(session);
  else
    await_session();
}

void SimpleTicket::await_session() {
  // Under the lock, so that a leave() finds the id. The client never completes on this thread.
  Lock lock(mutex_);
  if (!done_) return;
  awaited_session_ = client_->await_session([self = shared_from_this()](Status status, const SessionPtr& session) {
    if (status == Status::ok) return self->begin(session);
    Lock own_lock(self->mutex_);
    self->finish(own_lock, {nullptr, lock_error(status, self->path_, *self->client_)});
  });
}

void SimpleTicket::begin(const SessionPtr& session) {
  {
    Lock lock(mutex_);
    if (!done_) return;
    session_ = session;
    guid_ = connection::make_guid();
  }
  const auto listener = session->on_over([weak = weak_from_this(), session] {
    const auto self = weak.lock();
    if (!self) return;
    Lock lock(self->mutex_);
    if (self->is_current(session)) self->restart(lock);
  });
  {
    Lock lock(mutex_);
    if (is_current(session)) {
      session_listener_ = listener;
    } else {
      lock.unlock();
      return session->forget(listener);
    }
  }
  if (patience_ == Patience::queue) return race(session);
  client_->exists(session, path_, [self = shared_from_this(), session](const Reply& reply) {
    {
      Lock lock(self->mutex_);
      if (!self->is_current(session)) return;
      ++self->cost_.requests;
      if (reply.status == Status::ok || reply.status == Status::session_over) return self->finish(lock, {});
      if (reply.status != Status::no_node)
        return self->finish(lock, {nullptr, lock_error(reply.status, self->path_, *self->client_)});
    }
    self->race(session);
  });
}

void SimpleTicket::race(const SessionPtr& session) {
  CreateSpec create;
  create.parent = connection::parent_of(path_);
  create.name = connection::name_of(path_);
  create.guid_place = connection::GuidPlace::in_data;
  create.mode = connection::CreateMode::ephemeral;
  {
    Lock lock(mutex_);
    if (!is_current(session)) return;
    create.guid = guid_;
    create.data = data_with_guid(client_->identity(), guid_);
    ++cost_.requests;
  }
  client_->create(session, create, [self = shared_from_this(), session](Status status, const CreatedNode& node) {
    self->on_created(session, status, node, false);
  });
}

void SimpleTicket::on_created(const SessionPtr& session, Status status, const CreatedNode& node, bool just_proved) {
  Lock lock(mutex_);
  if (!is_current(session)) {
    lock.unlock();
    if (status == Status::ok) client_->remove(session, node.path, node.stat.czxid, nullptr);
    return;
  }
  if (status == Status::session_over) return restart(lock);
  if (status == Status::node_exists) {
    if (patience_ == Patience::try_once) return finish(lock, {});
    if (!std::exchange(positioned_, true)) cost_.queue_position = 1;
    lock.unlock();
    return watch_holder(session);
  }
  if (status != Status::ok) return finish(lock, {nullptr, lock_error(status, path_, *client_)});
  const auto now = connection::LeaseClock::now();
  if (!just_proved && !session->is_proved(now)) {
    // The reply to the create was lost, and finding the node again took long.
    ++cost_.requests;
    lock.unlock();
    return client_->prove(session, node.path, [self = shared_from_this(), session, node](Status proof) {
      if (proof == Status::no_node) return self->race(session);
      if (proof != Status::ok) self->client_->remove(session, node.path, node.stat.czxid, nullptr);
      self->on_created(session, proof, node, true);
    });
  }
  if (!session->lease().covers(now)) {
    lock.unlock();
    client_->remove(session, node.path, node.stat.czxid, nullptr);
    lock.lock();
    if (is_current(session)) restart(lock);
    return;
  }
  positioned_ = true;
  cost_.waited = Clock::now() - started_;
  Grant grant;
  grant.client = client_;
  grant.session = session;
  grant.node = node.path;
  grant.shared_czxid = node.stat.czxid;
  grant.token = {node.stat.czxid, 0};
  grant.cost = cost_;
  grant.on_revoke = options_.on_revoke;
  const OutcomeHandler done = std::exchange(done_, nullptr);
  stop(lock);
  done({HeldNode::make(std::move(grant)), nullptr});
}

void SimpleTicket::watch_holder(const SessionPtr& session) {
  Lock lock(mutex_);
  if (!is_current(session)) return;
  ++cost_.requests;
  // Any event: look again, which for this lock means to race.
  const auto event = [self = shared_from_this(), session](WatchEvent) {
    {
      Lock own_lock(self->mutex_);
      if (!self->is_current(session)) return;
      self->watch_ = 0;
      ++self->cost_.wakeups;
    }
    self->race(session);
  };
  const auto set = [self = shared_from_this(), session](const Reply& reply) {
    if (reply.status == Status::no_node) return self->race(session);
    if (reply.status == Status::ok && reply.stat.is_ephemeral()) return;
    Lock own_lock(self->mutex_);
    if (!self->is_current(session)) return;
    if (reply.status == Status::session_over) return self->restart(own_lock);
    if (reply.status == Status::ok)
      return self->finish(own_lock,
                          {nullptr, std::make_exception_ptr(
                                        Error(ErrorCode::unusable_path,
                                              "lock " + self->path_ +
                                                  ": there is a node that is nobody's lock (it is not ephemeral) and "
                                                  "will not go by itself; choose another path"))});
    self->finish(own_lock, {nullptr, lock_error(reply.status, self->path_, *self->client_)});
  };
  watch_ = client_->watch_node(session, path_, event, set);
}

void SimpleTicket::restart(Lock& lock) {
  if (patience_ == Patience::try_once) return finish(lock, {});
  // A node that this session leaves behind is waited for like anybody else's; it goes when the session ends.
  stop(lock);
  await_session();
}

void SimpleTicket::finish(Lock& lock, Outcome outcome) {
  const OutcomeHandler done = std::exchange(done_, nullptr);
  stop(lock);
  if (done) done(std::move(outcome));
}

/// Takes back what has been set up in the current session. Gives the lock back.
void SimpleTicket::stop(Lock& lock) {
  const auto watch = std::exchange(watch_, 0);
  const auto listener = std::exchange(session_listener_, 0);
  const auto awaited = std::exchange(awaited_session_, 0);
  const SessionPtr session = std::exchange(session_, nullptr);
  lock.unlock();
  if (awaited != 0) client_->cancel_await(awaited);
  if (watch != 0) client_->unwatch(watch);
  if (listener != 0) session->forget(listener);
}

bool SimpleTicket::leave() {
  OutcomeHandler dropped;  // destroyed without the lock
  Lock lock(mutex_);
  if (!done_) return false;
  dropped = std::exchange(done_, nullptr);
  stop(lock);
  return true;
}

}  // namespace zkrecipes::recipes
