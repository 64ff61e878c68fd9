// SPDX-License-Identifier: Apache-2.0
// The part that runs the flow.
#include "recipes/acquisition.h"

#include <utility>

#include "recipes/lock_error.h"

namespace zkrecipes::detail {

namespace {

/// Whether a flow can act on it; other answers end the flow.
bool is_for_the_flow(Status status) {
  return status == Status::ok || status == Status::no_node || status == Status::node_exists ||
         status == Status::bad_version || status == Status::no_parent || status == Status::occupied;
}

}  // namespace

Acquisition::Acquisition(std::shared_ptr<Client> client, std::unique_ptr<Flow> flow, const std::string& path)
    : client_(std::move(client)), path_(path), flow_(std::move(flow)) {}

Acquisition::~Acquisition() {
  if (client_->in_forked_child()) {
    // Its mutex may have been held at the moment of the fork.
    static_cast<void>(new StopListener(std::move(stop_listener_)));
    return;
  }
  if (state_ != State::waiting) return;
  on_ready_ = nullptr;
  leave();
  finish(AcquireStatus::stopped, nullptr, nullptr);
  tell_observer();
}

std::shared_ptr<Acquisition> Acquisition::start(const std::shared_ptr<Client>& client, std::unique_ptr<Flow> flow,
                                                Patience patience, const std::string& path, const StopToken& stop,
                                                std::shared_ptr<Retention> retention, ObservedAttemptPtr observed) {
  auto started = std::make_shared<Acquisition>(client, std::move(flow), path);
  started->retention_ = std::move(retention);
  started->observed_ = std::move(observed);
  const std::weak_ptr<Acquisition> weak = started;
  const auto give_up = [&weak](AcquireStatus why) {
    return [weak, why] {
      if (const auto self = weak.lock()) self->give_up(why);
    };
  };
  bool decided = false;
  {
    const InterruptibleLock lock(started->mutex_);
    if (stop.stop_possible()) started->stop_listener_ = StopListener(stop, give_up(AcquireStatus::stopped));
    if (stop.stop_requested())
      started->finish(AcquireStatus::stopped, nullptr, nullptr);
    else if (patience == Patience::try_once && !client->is_connected())
      started->finish(AcquireStatus::not_connected, nullptr, nullptr);
    else if (patience == Patience::try_once)
      started->awaited_disconnect_ = client->await_disconnect(give_up(AcquireStatus::not_connected));
    decided = started->state_ != State::waiting;
  }
  if (decided) {
    started->tell_observer();
    return started;
  }
  // Nothing is sent while suspended: an acquire that is given up meanwhile would leave its requests waiting for the
  // connection.
  started->begin(0, client->is_connected() ? client->current_session() : nullptr);
  return started;
}

std::shared_ptr<Acquisition> Acquisition::granted(const std::shared_ptr<Client>& client, const std::string& path,
                                                  std::shared_ptr<HeldNode> held) {
  auto granted = std::make_shared<Acquisition>(client, nullptr, path);
  granted->observed_ = held->grant().observed;
  {
    const InterruptibleLock lock(granted->mutex_);
    granted->finish(AcquireStatus::granted, std::move(held), nullptr);
  }
  granted->tell_observer();
  return granted;
}

void Acquisition::begin(Attempt awaited, const SessionPtr& session) {
  Attempt attempt = 0;
  {
    const InterruptibleLock lock(mutex_);
    if (!is_current(awaited)) return;
    if (!session) {
      action::AwaitSession await;
      return perform(await);
    }
    attempt = ++attempt_;
    session_ = session;
    run(event::SessionReady{client_->world().make_guid()});
  }
  // Without the mutex: a session that is over already calls back at once.
  const auto listener = session->on_over([weak = weak_from_this(), attempt] {
    if (const auto self = weak.lock()) self->answered(attempt, Topic::line, Status::session_over, event::SessionOver{});
  });
  const InterruptibleLock lock(mutex_);
  if (is_current(attempt))
    session_listener_ = listener;
  else
    session->forget(listener);
}

// ---- What happened ----

void Acquisition::answered(Attempt attempt, Topic topic, Status status, const Event& event) {
  bool decided = false;
  {
    const InterruptibleLock lock(mutex_);
    decided = is_current(attempt) && report(topic, status, event);
  }
  announce(decided);
}

void Acquisition::created(Attempt attempt, const SessionPtr& session, GuidPlace guid_place,
                          const event::Created& event) {
  bool decided = false;
  {
    const InterruptibleLock lock(mutex_);
    if (is_current(attempt)) {
      decided = report(event.topic, event.status, event);
    } else if (event.status == Status::ok) {
      const std::int64_t czxid = guid_place == GuidPlace::in_data ? event.node.stat.czxid : 0;
      client_->remove_leftover(session, event.node.path, czxid);
    }
  }
  announce(decided);
}

void Acquisition::watch_answered(Topic topic, std::uint64_t number, Status status, const Event& event) {
  bool decided = false;
  {
    const InterruptibleLock lock(mutex_);
    if (watch_on(topic).number != number) return;  // taken back meanwhile
    if (status != Status::ok) watch_on(topic) = {};
    decided = report(topic, status, event);
  }
  announce(decided);
}

void Acquisition::watch_fired(Topic topic, std::uint64_t number, WatchEvent what) {
  bool decided = false;
  {
    const InterruptibleLock lock(mutex_);
    if (watch_on(topic).number != number) return;  // taken back meanwhile
    watch_on(topic) = {};
    ++wakeups_;
    decided = report(topic, Status::ok, event::Changed{topic, what});
  }
  announce(decided);
}

void Acquisition::tell(const Event& event) {
  if (client_->in_forked_child()) return;
  bool decided = false;
  {
    const InterruptibleLock lock(mutex_);
    if (state_ != State::waiting) return;
    run(event);
    decided = state_ != State::waiting;
  }
  if (decided) changed_.notify_all();
}

bool Acquisition::report(Topic topic, Status status, const Event& event) {
  if (status == Status::session_over)
    run(event::SessionOver{});
  else if (is_for_the_flow(status))
    run(event);
  else
    run(event::Refused{status, topic});
  return state_ != State::waiting;
}

void Acquisition::run(const Event& event) {
  for (Action& action : flow_->on(event))
    std::visit([this](auto& what) ZKR_REQUIRES(mutex_) { perform(what); }, action);
}

// ---- What to do ----

void Acquisition::perform(action::AwaitSession&) {
  end_attempt();
  awaited_session_ =
      client_->await_session([self = shared_from_this(), attempt = attempt_](Status status, const SessionPtr& session) {
        if (status == Status::ok) return self->begin(attempt, session);
        self->answered(attempt, Topic::line, status, event::SessionOver{});
      });
}

void Acquisition::perform(action::Create& action) {
  ++requests_;
  const GuidPlace guid_place = action.spec.guid_place;
  client_->create(session_, std::move(action.spec),
                  [self = shared_from_this(), attempt = attempt_, session = session_, topic = action.topic, guid_place](
                      Status status, CreatedNode node) {
                    self->created(attempt, session, guid_place, {topic, status, std::move(node)});
                  });
}

void Acquisition::perform(action::List& action) {
  ++requests_;
  client_->list(session_, action.path,
                [self = shared_from_this(), attempt = attempt_, topic = action.topic](Reply reply) {
                  self->answered(attempt, topic, reply.status,
                                 event::Listed{topic, reply.status, std::move(reply.children), reply.stat, false});
                });
}

void Acquisition::perform(action::Look& action) {
  ++requests_;
  client_->exists(session_, action.path, [self = shared_from_this(), attempt = attempt_](const Reply& reply) {
    self->answered(attempt, Topic::line, reply.status, event::Looked{reply.status == Status::ok, reply.stat});
  });
}

void Acquisition::perform(action::WatchNode& action) {
  ++requests_;
  Watch& watch = watch_on(Topic::line);
  watch.number = ++watch_number_;
  // Neither the answer nor the event can come before the id is known: both need the mutex.
  watch.id = client_->watch_node(
      session_, action.path,
      [self = shared_from_this(), number = watch.number](WatchEvent what) {
        self->watch_fired(Topic::line, number, what);
      },
      [self = shared_from_this(), number = watch.number](const Reply& reply) {
        self->watch_answered(Topic::line, number, reply.status, event::WatchSet{reply.status, reply.stat});
      });
}

void Acquisition::perform(action::WatchChildren& action) {
  ++requests_;
  Watch& watch = watch_on(action.topic);
  watch.number = ++watch_number_;
  watch.id = client_->watch_children(
      session_, action.path,
      [self = shared_from_this(), topic = action.topic, number = watch.number](WatchEvent what) {
        self->watch_fired(topic, number, what);
      },
      [self = shared_from_this(), topic = action.topic, number = watch.number](Reply reply) {
        self->watch_answered(topic, number, reply.status,
                             event::Listed{topic, reply.status, std::move(reply.children), reply.stat, true});
      });
}

void Acquisition::perform(action::Unwatch& action) {
  const Watch watch = std::exchange(watch_on(action.topic), {});
  if (watch.id != 0) client_->unwatch(watch.id);
}

void Acquisition::perform(action::Probe& action) {
  probe_ = client_->probe(session_, action.path, NodeRole::waits, 0, [weak = weak_from_this(), attempt = attempt_] {
    if (const auto self = weak.lock()) self->answered(attempt, Topic::line, Status::no_node, event::OwnNodeGone{});
  });
}

void Acquisition::perform(action::Unprobe&) {
  const ProbeId probe = std::exchange(probe_, 0);
  if (probe != 0) client_->unprobe(probe);
}

void Acquisition::perform(action::Remove& action) {
  if (action.leftover)
    client_->remove_leftover(session_, action.path, action.czxid);
  else
    client_->remove(session_, action.path, action.czxid, nullptr);
}

void Acquisition::perform(action::RaiseVersion& action) {
  ++requests_;
  client_->set(
      session_, action.path, std::move(action.data), action.expected,
      [self = shared_from_this(), attempt = attempt_](const Reply& reply) {
        self->answered(attempt, Topic::line, reply.status, event::VersionRaised{reply.status, reply.stat.version});
      });
}

void Acquisition::perform(action::Mark& action) {
  ++requests_;
  client_->set_once(session_, action.path, std::move(action.data), action.expected);
}

void Acquisition::perform(action::Wait& action) {
  if (observed_) observed_->waiting(action.queue_position);
}

void Acquisition::perform(action::Timer& action) {
  const auto fired = [weak = weak_from_this(), attempt = attempt_, id = action.id] {
    if (const auto self = weak.lock()) self->answered(attempt, Topic::line, Status::ok, event::TimerFired{id});
  };
  timers_.push_back(client_->run_at(client_->world().now() + action.after, fired));
}

// ---- The end ----

void Acquisition::perform(action::MakeHold& action) {
  // The lease may have run out while we waited, since waiting does not renew it; what proves the turn may also have
  // come late, after a pause of this process.
  if (session_->is_proved(client_->world().lease_now())) return make_hold(action);
  ++requests_;
  action.check_node = false;  // the proof is about our node
  client_->prove(session_, action.grant.node,
                 [self = shared_from_this(), attempt = attempt_, hold = action](Status status) {
                   self->proved(attempt, status, hold);
                 });
}

void Acquisition::proved(Attempt attempt, Status status, action::MakeHold hold) {
  if (status == Status::no_node) return answered(attempt, hold.topic, status, event::OwnNodeGone{});
  if (status != Status::ok) return answered(attempt, hold.topic, status, event::LeaseOver{});
  bool decided = false;
  {
    const InterruptibleLock lock(mutex_);
    if (!is_current(attempt)) return;
    make_hold(hold);
    decided = state_ != State::waiting;
  }
  announce(decided);
}

void Acquisition::make_hold(action::MakeHold& hold) {
  if (!session_->lease().covers(client_->world().lease_now())) {
    if (session_->is_over()) return run(event::SessionOver{});
    return run(event::LeaseOver{});
  }
  Grant& grant = hold.grant;
  grant.client = client_;
  grant.session = session_;
  grant.cost.waited = client_->world().now() - started_;
  grant.cost.requests = requests_;
  grant.cost.wakeups = wakeups_;
  grant.observed = observed_;
  if (observed_) observed_->acquired(grant.token, grant.cost, 1 + static_cast<int>(grant.more_nodes.size()));
  // While others wait, a node that stays after its release would only be in their way.
  const bool retain = retention_ && hold.alone;
  auto held = retain ? retention_->granted(std::move(grant)) : HeldNode::make(std::move(grant));
  if (hold.check_node) {
    // The listing that put us behind one node is old. If somebody has deleted our own node since, we were granted
    // wrongly, and this tells within a round trip.
    client_->exists(session_, held->grant().node, [weak = std::weak_ptr<HeldNode>(held)](const Reply& reply) {
      const auto still = weak.lock();
      if (still && reply.status == Status::no_node) still->lose();
    });
  }
  run(event::Granted{});
  finish(AcquireStatus::granted, std::move(held), nullptr);
}

void Acquisition::perform(action::Fail& action) {
  finish(AcquireStatus::failed, nullptr,
         action.error ? action.error : lock_error(action.status, action.path, *client_));
}

void Acquisition::perform(action::NotServed&) {
  const bool has_session = session_ && !session_->is_over();
  if (has_session && client_->is_connected()) return finish(AcquireStatus::busy, nullptr, nullptr);
  // A try that has lost its session has seen nothing of the lock.
  try {
    client_->check_usable();
    finish(AcquireStatus::not_connected, nullptr, nullptr);
  } catch (const Error&) {
    finish(AcquireStatus::failed, nullptr, std::current_exception());
  }
}

void Acquisition::finish(AcquireStatus status, std::shared_ptr<HeldNode> held, std::exception_ptr error) {
  end_attempt();
  state_ = State::ready;
  status_ = status;
  if (observed_ && status != AcquireStatus::granted) observed_->not_acquired(status);
  held_ = std::move(held);
  error_ = std::move(error);
  // Nothing that could end the wait is of interest any more.
  stop_listener_ = {};
  if (const TimerId timer = std::exchange(deadline_timer_, 0); timer != 0) client_->cancel_timer(timer);
  for (AwaitId* const awaited : {&awaited_session_, &awaited_disconnect_})
    if (const AwaitId id = std::exchange(*awaited, 0); id != 0) client_->cancel_await(id);
  post_callback();
}

/// Takes back all that there is. An outcome is to follow.
void Acquisition::leave() {
  run(event::Left{});
  end_attempt();
}

void Acquisition::end_attempt() {
  ++attempt_;
  const SessionPtr session = std::exchange(session_, nullptr);
  const auto listener = std::exchange(session_listener_, 0);
  if (listener != 0) session->forget(listener);
  for (const TimerId timer : timers_) client_->cancel_timer(timer);
  timers_.clear();
}

}  // namespace zkrecipes::detail
