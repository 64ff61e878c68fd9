// SPDX-License-Identifier: Apache-2.0
#include "recipes/semaphore_ticket.h"

#include <algorithm>
#include <utility>

#include "recipes/lock_error.h"

namespace zkrecipes::recipes {

using connection::CreatedNode;
using connection::CreateSpec;
using connection::Reply;
using connection::Status;
using connection::WatchEvent;

namespace {
// How long a try stands in a line that does not move.
constexpr std::chrono::seconds kPatienceOfATry{2};
// How soon it looks again for the node of the leases, which cannot be watched while it is missing: nobody has taken a
// permit yet, or the server has removed the container because none was in use.
constexpr std::chrono::milliseconds kLookAgain{50};
}  // namespace

SemaphoreTicket::SemaphoreTicket(std::shared_ptr<connection::Client> client, std::shared_ptr<const SemaphoreSpec> spec,
                                 Patience patience)
    : client_(std::move(client)), spec_(std::move(spec)), patience_(patience) {}

void SemaphoreTicket::join(OutcomeHandler done) {
  {
    Lock lock(mutex_);
    done_ = std::move(done);
  }
  if (patience_ == Patience::queue)
    queue_up(Patience::queue);
  else
    look_before_joining();
}

void SemaphoreTicket::look_before_joining() {
  client_->list(client_->current_session(), spec_->leases, [self = shared_from_this()](const Reply& reply) {
    {
      Lock lock(self->mutex_);
      if (!self->done_) return;
      ++self->cost_.requests;
      if (reply.status == Status::session_over || self->all_taken(reply)) return self->fail(lock, nullptr);
      if (reply.status != Status::ok && reply.status != Status::no_node)
        return self->fail(lock, lock_error(reply.status, self->spec_->path, *self->client_));
    }
    self->queue_up(Patience::try_once);
  });
}

// ---- In line ----

void SemaphoreTicket::queue_up(Patience patience) {
  const auto ticket = std::make_shared<QueueTicket>(client_, spec_->line, patience);
  {
    Lock lock(mutex_);
    if (!done_) return;
    ticket_ = ticket;
  }
  ticket->join([self = shared_from_this(), ticket](Outcome outcome) { self->on_turn(ticket, std::move(outcome)); });
}

/// For a try that has found others in line.
void SemaphoreTicket::stand_in_busy_line() {
  Lock lock(mutex_);
  if (!done_ || turn_) return;
  ++cost_.requests;
  const auto event = [self = shared_from_this()](WatchEvent) {
    {
      Lock own_lock(self->mutex_);
      if (!self->done_ || self->turn_) return;
      self->watch_ = 0;
      ++self->cost_.wakeups;
    }
    self->stand_in_busy_line();
  };
  watch_ = client_->watch_children(
      client_->current_session(), spec_->leases, event,
      [self = shared_from_this()](const Reply& reply) { self->on_leases_seen_from_the_line(reply); });
}

void SemaphoreTicket::on_leases_seen_from_the_line(const Reply& reply) {
  const bool missing = reply.status == Status::no_node;
  bool joins = false;
  {
    Lock lock(mutex_);
    if (!done_ || turn_) return;
    if (reply.status == Status::session_over || all_taken(reply)) return fail(lock, nullptr);
    if (reply.status != Status::ok && !missing) return fail(lock, lock_error(reply.status, spec_->path, *client_));
    joins = !std::exchange(in_busy_line_, true);
    if (!missing) ++movements_;
    if (missing) watch_ = 0;
  }
  if (missing)
    client_->run_at(Clock::now() + kLookAgain, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->stand_in_busy_line();
    });
  if (joins || !missing) expect_progress();
  if (joins) queue_up(Patience::queue);
}

/// Each contender ahead adds a lease when it is served. One that is dead, or that counts fewer permits than we do, adds
/// none, and a try does not wait for it.
void SemaphoreTicket::expect_progress() {
  int seen = 0;
  {
    Lock lock(mutex_);
    seen = movements_;
  }
  client_->run_at(Clock::now() + kPatienceOfATry, [weak = weak_from_this(), seen] {
    const auto self = weak.lock();
    if (!self) return;
    Lock lock(self->mutex_);
    if (self->done_ && !self->turn_ && self->movements_ == seen) self->fail(lock, nullptr);
  });
}

void SemaphoreTicket::on_turn(const std::shared_ptr<QueueTicket>& ticket, Outcome outcome) {
  Turn turn = std::move(outcome.held);
  connection::WatchId watch = 0;
  {
    Lock lock(mutex_);
    if (!done_ || ticket_ != ticket) {
      lock.unlock();
      if (turn) turn->release_in_background();
      return;
    }
    ticket_ = nullptr;
    if (!turn && !outcome.error && !in_busy_line_) {
      lock.unlock();
      return stand_in_busy_line();
    }
    if (!turn) return fail(lock, std::move(outcome.error));
    const AcquisitionCost& cost = turn->grant().cost;
    cost_.queue_position = std::max(cost_.queue_position, cost.queue_position);
    cost_.wakeups += cost.wakeups;
    cost_.requests += cost.requests;
    turn_ = turn;
    watch = std::exchange(watch_, 0);
  }
  if (watch != 0) client_->unwatch(watch);
  const auto listener = turn->grant().session->on_over([weak = weak_from_this(), turn] {
    const auto self = weak.lock();
    if (!self) return;
    Lock lock(self->mutex_);
    if (self->is_current(turn)) self->start_anew(lock);
  });
  {
    Lock lock(mutex_);
    if (!is_current(turn)) {
      lock.unlock();
      return turn->grant().session->forget(listener);
    }
    session_listener_ = listener;
  }
  create_lease(turn);
}

// ---- At the head of the line ----

void SemaphoreTicket::create_lease(const Turn& turn) {
  const std::string guid = connection::make_guid();
  CreateSpec create;
  create.parent = spec_->leases;
  create.name = protected_name(guid, NodeKind::lease);
  create.guid = guid;
  create.data = client_->identity();
  {
    Lock lock(mutex_);
    cost_.requests += 2;
    counted_too_early_ = false;
  }
  client_->create(turn->grant().session, std::move(create),
                  [self = shared_from_this(), turn](Status status, CreatedNode lease) {
                    self->on_lease_created(turn, status, std::move(lease));
                  });
  // In the same round trip; without a watch, which would have to be taken back when there is a permit.
  count_leases(turn);
}

void SemaphoreTicket::on_lease_created(const Turn& turn, Status status, CreatedNode lease) {
  Lock lock(mutex_);
  if (!is_current(turn)) {
    lock.unlock();
    if (status == Status::ok) client_->remove(turn->grant().session, lease.path, {}, nullptr);
    return;
  }
  if (status == Status::session_over) return start_anew(lock);
  if (status != Status::ok) return fail(lock, lock_error(status, spec_->path, *client_));
  lease_ = std::move(lease);
  if (!std::exchange(counted_too_early_, false)) return;
  lock.unlock();
  count_leases(turn);
}

void SemaphoreTicket::count_leases(const Turn& turn) {
  client_->list(turn->grant().session, spec_->leases,
                [self = shared_from_this(), turn](const Reply& reply) { self->on_leases_listed(turn, reply, false); });
}

void SemaphoreTicket::watch_leases(const Turn& turn) {
  Lock lock(mutex_);
  if (!is_current(turn)) return;
  ++cost_.requests;
  watch_ = client_->watch_children(
      turn->grant().session, spec_->leases,
      [self = shared_from_this(), turn](WatchEvent) {
        {
          Lock own_lock(self->mutex_);
          if (!self->is_current(turn)) return;
          self->watch_ = 0;
          ++self->cost_.wakeups;
        }
        self->watch_leases(turn);
      },
      [self = shared_from_this(), turn](const Reply& reply) { self->on_leases_listed(turn, reply, true); });
}

void SemaphoreTicket::on_leases_listed(const Turn& turn, const Reply& reply, bool watched) {
  Lock lock(mutex_);
  if (!is_current(turn)) return;
  if (reply.status == Status::session_over) return start_anew(lock);
  if (reply.status != Status::ok && reply.status != Status::no_node)
    return fail(lock, lock_error(reply.status, spec_->path, *client_));
  if (lease_.path.empty()) {
    counted_too_early_ = true;  // the reply to the create was lost and is being looked for
    return;
  }
  const bool listed = reply.children.contains(connection::name_of(lease_.path));
  if (watched && !listed) return start_anew(lock);  // somebody has deleted the lease
  if (listed && reply.children.size() <= static_cast<std::size_t>(spec_->permits)) return grant(lock, turn, false);
  if (listed && patience_ == Patience::try_once) return fail(lock, nullptr);
  if (watched && listed) return;
  lock.unlock();
  watch_leases(turn);
}

// ---- The end ----

void SemaphoreTicket::grant(Lock& lock, const Turn& turn, bool just_proved) {
  const auto& session = turn->grant().session;
  const auto now = connection::LeaseClock::now();
  if (!just_proved && !session->is_proved(now)) {
    // Waiting for a permit does not renew the lease.
    ++cost_.requests;
    const std::string lease = lease_.path;
    lock.unlock();
    return client_->prove(session, lease, [self = shared_from_this(), turn](Status status) {
      Lock own_lock(self->mutex_);
      if (!self->is_current(turn)) return;
      if (status == Status::ok) return self->grant(own_lock, turn, true);
      if (status == Status::no_node || status == Status::session_over) return self->start_anew(own_lock);
      self->fail(own_lock, lock_error(status, self->spec_->path, *self->client_));
    });
  }
  if (!session->lease().covers(now)) return start_anew(lock);
  Grant granted;
  granted.client = client_;
  granted.session = turn->grant().session;
  granted.node = std::exchange(lease_.path, {});
  granted.kind = NodeKind::lease;
  granted.token = {lease_.stat.czxid, 0};
  cost_.waited = Clock::now() - started_;
  granted.cost = cost_;
  granted.on_revoke = spec_->options.on_revoke;
  const OutcomeHandler done = std::exchange(done_, nullptr);
  stop(lock);
  done({HeldNode::make(std::move(granted)), nullptr});
}

void SemaphoreTicket::start_anew(Lock& lock) {
  if (patience_ == Patience::try_once) return fail(lock, nullptr);
  stop(lock);
  queue_up(Patience::queue);
}

void SemaphoreTicket::fail(Lock& lock, std::exception_ptr error) {
  const OutcomeHandler done = std::exchange(done_, nullptr);
  stop(lock);
  done({nullptr, std::move(error)});
}

bool SemaphoreTicket::leave() {
  OutcomeHandler dropped;  // destroyed without the lock
  Lock lock(mutex_);
  if (!done_) return false;
  dropped = std::exchange(done_, nullptr);
  stop(lock);
  return true;
}

/// Gives back mutex, lease and watch, whatever there is, and then the lock.
void SemaphoreTicket::stop(Lock& lock) {
  const auto ticket = std::exchange(ticket_, nullptr);
  const auto turn = std::exchange(turn_, nullptr);
  const auto listener = std::exchange(session_listener_, 0);
  const auto watch = std::exchange(watch_, 0);
  const auto lease = std::exchange(lease_.path, {});
  lock.unlock();
  if (ticket) ticket->leave();
  if (watch != 0) client_->unwatch(watch);
  if (!turn) return;
  if (listener != 0) turn->grant().session->forget(listener);
  if (!lease.empty()) client_->remove(turn->grant().session, lease, {}, nullptr);
  turn->release_in_background();
}

}  // namespace zkrecipes::recipes
