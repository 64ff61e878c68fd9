// SPDX-License-Identifier: Apache-2.0
// The half of ZookeeperClient that keeps a session alive, notices its end and makes the next one.
#include <algorithm>
#include <condition_variable>
#include <future>
#include <glog/logging.h>
#include <utility>

#include "connection/node_path.h"
#include "connection/node_remover.h"
#include "connection/zookeeper_client.h"

namespace zkrecipes::connection {

namespace {

// A handle that does not connect in this many session timeouts is replaced, and names are resolved anew with it.
constexpr int kTimeoutsPerHandle = 3;
// How often a borrowed handle without a session is asked for its state.
constexpr std::chrono::milliseconds kBorrowedPoll{50};
// How long close() waits for answers to what is in flight.
constexpr std::chrono::seconds kLastAnswersPatience{2};
// How long close() waits until the nodes on a borrowed handle are gone.
constexpr std::chrono::seconds kReturnPatience{3};

}  // namespace

// ---- What the C client says ----

void ZookeeperClient::apply(SessionEvent event, Clock::time_point now, Outbox& outbox) {
  switch (event) {
    case SessionEvent::connected:
      monitor_.tick(now);
      // A session whose lease has run out just now is not taken up again: its nodes are nobody's any more, and go with
      // the handle.
      if (!handle_->borrowed() && monitor_.has_ended()) break;
      monitor_.connected(handle_->session_id(), handle_->session_timeout(), now);
      reconnect_backoff_.reset();
      handle_given_up_at_ = Clock::time_point::max();
      heartbeat_.due = now;
      break;
    case SessionEvent::disconnected:
      monitor_.disconnected();
      break;
    case SessionEvent::expired:
      if (handle_->borrowed())
        return close_for_good(ErrorCode::connection_closed,
                              "the session of the program's own ZooKeeper handle has expired; make a new handle and "
                              "a new Connection",
                              outbox);
      monitor_.expired();
      break;
    case SessionEvent::auth_failed:
      close_for_good(ErrorCode::not_authorized,
                     "the server refused the credentials of this connection (check scheme and secret)", outbox);
      return retire_handle();
  }
  publish(outbox);
  send_parked(outbox);
  schedule_tick(now);
}

void ZookeeperClient::note_borrowed_state(Outbox& outbox, Clock::time_point now) {
  const SessionEvent seen = handle_->state();
  const bool known = monitor_.state() == ConnectionState::connected;
  if (seen == SessionEvent::connected) {
    if (!known) ask_for_proof(now);
  } else if (seen != SessionEvent::disconnected || known) {
    apply(seen, now, outbox);
  }
}

/// The C client reports a lost connection before its own state says so, so "connected" may be old news. An answer is
/// not: those of the lost connection came before the report.
void ZookeeperClient::ask_for_proof(Clock::time_point now) {
  Pending question(nullptr, {RequestKind::exists, "/"}, nullptr);
  question.background = true;
  question.sent = now;
  const std::uint64_t number = handle_->next_request();
  if (handle_->listen_for_session_events(number) == Status::ok) in_flight_.add(number, std::move(question));
}

// ---- What follows from it ----

void ZookeeperClient::publish(Outbox& outbox) {
  const auto now = Clock::now();
  const std::vector<SessionPtr> ended = monitor_.take_ended();
  for (const SessionPtr& session : ended) {
    session->lease().end(now);  // before anybody is told that something of it failed
    drop_session(session, outbox);
    outbox.add([session, now] { session->announce_over(now); });
    no_session_since_ = now;
  }
  const std::vector<ConnectionState> changes = monitor_.take_changes();
  for (const ConnectionState state : changes) {
    state_.store(state);
    if (state == ConnectionState::suspended || state == ConnectionState::lost)
      LOG(WARNING) << "zkrecipes: connection to " << options_.servers << " is " << to_string(state);
    else
      VLOG(1) << "zkrecipes: connection to " << options_.servers << " is " << to_string(state);
    notices_.post(
        [self = shared_from_this(), state, number = ++state_number_] { self->state_changed_(state, number); });
  }
  if (!changes.empty()) {
    boost::lock_guard<boost::mutex> lock(wait_mutex_);
    wait_changed_.notify_all();
  }
  if (!ended.empty() && !closed_) replace_handle();
  if (monitor_.session() && handle_ && handle_->borrowed()) remove_leftovers(monitor_.session(), outbox);
  if (monitor_.session())
    for (SessionHandler& done : std::exchange(awaiting_session_, {}))
      outbox.add([done = std::move(done), session = monitor_.session()] { done(Status::ok, session); });
}

void ZookeeperClient::drop_session(const SessionPtr& session, Outbox& outbox) {
  const Status status = closed_ ? Status::closed : Status::session_over;
  // Destroyed with the outbox, not under the lock: a handler may own what calls back here when it dies.
  outbox.add([dropped = watches_.clear()] {});
  heartbeat_.clear();
  for (Pending& pending : in_flight_.take_if([&](const Pending& one) { return one.session == session; }))
    outbox.complete(std::move(pending.done), status);
  for (Pending& pending : std::exchange(parked_, {})) outbox.complete(std::move(pending.done), status);
}

void ZookeeperClient::close_for_good(ErrorCode code, std::string reason, Outbox& outbox) {
  if (closed_) return;
  closed_ = true;
  close_code_ = code;
  close_reason_ = std::move(reason);
  monitor_.closed();
  publish(outbox);
  for (SessionHandler& done : std::exchange(awaiting_session_, {}))
    outbox.add([done = std::move(done)] { done(Status::closed, nullptr); });
}

// ---- Closing; and borrowed handles, whose session lives on when our lease on it has run out or when we close ----

void ZookeeperClient::remove_leftovers(const SessionPtr& session, Outbox& outbox) {
  if (session == leftovers_removed_in_) return;
  leftovers_removed_in_ = session;
  outbox.add([self = shared_from_this(), session, leftovers = borrowed_nodes_.take()] {
    for (const BorrowedNodes::Node& node : leftovers.nodes)
      remove_if_ours(*self, session, node.path, node.guid_in_data, nullptr);
    for (const BorrowedNodes::Doubt& doubt : leftovers.in_doubt) {
      if (doubt.guid_place == GuidPlace::in_data) {
        remove_if_ours(*self, session, join(doubt.parent, doubt.name), doubt.guid, nullptr);
        continue;
      }
      self->send_until_answered(session, {RequestKind::sync, doubt.parent}, nullptr);
      self->send_until_answered(session, {RequestKind::list, doubt.parent}, [self, session, doubt](const Reply& reply) {
        for (const std::string_view child : reply.children)
          if (child.find(doubt.guid) != std::string_view::npos)
            remove_for_certain(*self, session, join(doubt.parent, child), {}, nullptr);
      });
    }
  });
}

bool ZookeeperClient::issue_unchecked(Request request, ReplyHandler done) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!handle_ || handle_->state() != SessionEvent::connected) return false;
  Pending pending(nullptr, std::move(request), std::move(done));
  pending.background = true;
  const std::uint64_t number = handle_->next_request();
  if (handle_->issue(pending.request, number) != Status::ok) return false;
  in_flight_.add(number, std::move(pending));
  return true;
}

void ZookeeperClient::await_last_answers() {
  // A socket that is closed with answers unread is reset, and then the server may never see the end of the session that
  // was sent before. Answers come in order: behind this one's there are none.
  const auto answered = std::make_shared<std::promise<void>>();
  if (issue_unchecked({RequestKind::exists, "/"}, [answered](const Reply&) { answered->set_value(); }))
    answered->get_future().wait_for(kLastAnswersPatience);
}

void ZookeeperClient::remove_borrowed_nodes() {
  const BorrowedNodes::Leftovers leftovers = borrowed_nodes_.take();
  if (leftovers.empty() || !handle_) return;
  if (handle_->state() != SessionEvent::connected) {
    LOG(ERROR) << "zkrecipes: the connection was closed while its handle is disconnected; "
               << leftovers.nodes.size() + leftovers.in_doubt.size()
               << " lock node(s) may stay until the handle's session ends";
    return;
  }
  struct Countdown {
    std::mutex mutex;
    std::condition_variable changed;
    int open = 0;  // guarded by mutex
    void add(int n) {
      std::lock_guard<std::mutex> lock(mutex);
      open += n;
      changed.notify_all();
    }
  };
  const auto countdown = std::make_shared<Countdown>();
  const auto issue = [this, countdown](Request request, ReplyHandler done) {
    countdown->add(1);
    const auto finished = [countdown, done = std::move(done)](Reply reply) {
      if (done) done(std::move(reply));
      countdown->add(-1);
    };
    if (!issue_unchecked(std::move(request), finished)) countdown->add(-1);
  };
  const auto remove_if_data_has = [issue](const std::string& path, const std::string& guid) {
    issue({RequestKind::get, path}, [issue, path, guid](const Reply& reply) {
      if (reply.data.find(guid) != std::string::npos) issue({RequestKind::remove, path}, nullptr);
    });
  };
  for (const BorrowedNodes::Node& node : leftovers.nodes) {
    if (node.guid_in_data.empty())
      issue({RequestKind::remove, node.path}, nullptr);
    else
      remove_if_data_has(node.path, node.guid_in_data);
  }
  for (const BorrowedNodes::Doubt& doubt : leftovers.in_doubt) {
    if (doubt.guid_place == GuidPlace::in_data) {
      remove_if_data_has(join(doubt.parent, doubt.name), doubt.guid);
      continue;
    }
    issue({RequestKind::list, doubt.parent}, [issue, doubt](const Reply& reply) {
      for (const std::string_view child : reply.children)
        if (child.find(doubt.guid) != std::string_view::npos)
          issue({RequestKind::remove, join(doubt.parent, child)}, nullptr);
    });
  }
  std::unique_lock<std::mutex> lock(countdown->mutex);
  if (!countdown->changed.wait_for(lock, kReturnPatience, [&] { return countdown->open == 0; }))
    LOG(ERROR) << "zkrecipes: the server did not confirm in time that the lock nodes on the program's handle are gone";
}

// ---- Handles ----

void ZookeeperClient::retire_handle() {
  if (!handle_ || handle_->borrowed()) return;
  closer_.post([old = std::shared_ptr<ZookeeperHandle>(std::move(handle_))] { old->close(); });
}

void ZookeeperClient::replace_handle() {
  if (handle_ && handle_->borrowed()) return;
  retire_handle();
  handle_given_up_at_ = Clock::time_point::max();
  loop_.post([self = shared_from_this()] { self->open_handle(); });
}

void ZookeeperClient::open_handle() {
  // Looking up a name can take long, and the loop must keep its deadlines.
  const auto resolve_and_install = [self = shared_from_this()] {
    std::string problem;
    const std::string addresses = resolve(self->servers_.hosts, problem);
    self->install_handle(addresses, problem);
  };
  if (is_numeric(servers_.hosts))
    resolve_and_install();
  else
    resolver_.post(resolve_and_install);
}

void ZookeeperClient::install_handle(const std::string& addresses, const std::string& problem) {
  if (!problem.empty()) LOG(WARNING) << "zkrecipes: cannot resolve " << problem;
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_ || handle_) return;
  if (!addresses.empty()) {
    try {
      handle_ = ZookeeperHandle::open({addresses, options_.session_timeout, options_.credentials, options_.tls},
                                      options_.acl, weak_from_this());
    } catch (const Error& error) {
      LOG(ERROR) << "zkrecipes: " << error.what();
    }
  }
  const auto now = Clock::now();
  if (handle_)
    handle_given_up_at_ = now + kTimeoutsPerHandle * options_.session_timeout;
  else
    loop_.post_at(now + reconnect_backoff_.next(), [self = shared_from_this()] { self->open_handle(); });
  schedule_tick(now);
}

// ---- What time brings ----

void ZookeeperClient::tick(Clock::time_point scheduled) {
  Outbox outbox;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (closed_ || scheduled != tick_scheduled_) return;  // superseded by an earlier one
    tick_scheduled_ = Clock::time_point::max();
    const auto now = Clock::now();
    monitor_.tick(now);
    publish(outbox);
    if (handle_ && handle_->borrowed()) note_borrowed_state(outbox, now);
    const bool connected = monitor_.state() == ConnectionState::connected;
    if (!closed_ && connected && now >= heartbeat_.due) send_heartbeat(now, outbox);
    fail_overdue(now, outbox);
    const auto patience = options_.retry.give_up_after;
    if (!closed_ && !monitor_.session()) {
      if (now >= handle_given_up_at_) replace_handle();
      if (patience.count() > 0 && now >= no_session_since_ + patience) {
        close_for_good(ErrorCode::connection_closed,
                       "no session with " + options_.servers + " could be had for " + std::to_string(patience.count()) +
                           " ms; check that the servers run and can be reached, or raise RetryPolicy::give_up_after",
                       outbox);
        retire_handle();
      }
    }
    if (!closed_) schedule_tick(next_tick(now));
  }
  outbox.run();
}

Clock::time_point ZookeeperClient::next_tick(Clock::time_point now) const {
  auto next = now + std::chrono::seconds(1);
  if (const auto deadline = monitor_.deadline()) {
    next = std::min(next, *deadline);
    if (monitor_.state() == ConnectionState::connected) next = std::min(next, heartbeat_.due);
  } else {
    next = std::min(next, handle_given_up_at_);
    if (options_.retry.give_up_after.count() > 0)
      next = std::min(next, no_session_since_ + options_.retry.give_up_after);
  }
  if (handle_ && handle_->borrowed() && monitor_.state() != ConnectionState::connected)
    next = std::min<Clock::time_point>(next, now + kBorrowedPoll);
  return next;
}

void ZookeeperClient::schedule_tick(Clock::time_point time) {
  if (time >= tick_scheduled_) return;
  tick_scheduled_ = time;
  loop_.post_at(time, [weak = weak_from_this(), time] {
    if (const auto self = weak.lock()) self->tick(time);
  });
}

void ZookeeperClient::send_heartbeat(Clock::time_point now, Outbox& outbox) {
  heartbeat_.due = now + heartbeat_.interval(monitor_.session()->timeout());
  const auto probes = heartbeat_.next_batch();
  for (const auto& [id, path] : probes) {
    const auto answered = [weak = weak_from_this(), id = id](const Reply& reply) {
      const auto self = weak.lock();
      if (!self || (reply.status != Status::no_node && reply.status != Status::ok)) return;
      std::function<void()> gone;
      {
        std::lock_guard<std::mutex> lock(self->mutex_);
        if (reply.status == Status::ok && self->heartbeat_.is_same(id, reply.stat.czxid)) return;
        gone = self->heartbeat_.take(id);
      }
      if (gone) gone();
    };
    Pending pending(monitor_.session(), {RequestKind::exists, path}, answered);
    pending.background = true;
    submit_locked(std::move(pending), outbox);
  }
  if (!probes.empty() && !handle_->borrowed()) return;
  Pending pending(monitor_.session(), {RequestKind::exists, "/"}, nullptr);
  pending.background = true;
  if (!handle_->borrowed()) return submit_locked(std::move(pending), outbox);
  // On a borrowed handle this is also what keeps session events coming.
  const std::uint64_t number = handle_->next_request();
  pending.sent = now;
  if (handle_->listen_for_session_events(number) == Status::ok) in_flight_.add(number, std::move(pending));
}

void ZookeeperClient::fail_overdue(Clock::time_point now, Outbox& outbox) {
  // A request that raced with a loss of connection may never be answered (ZOOKEEPER-2802).
  if (!monitor_.session()) return;
  const auto patience = 2 * monitor_.session()->timeout();
  for (Pending& pending : in_flight_.take_if([&](const Pending& one) { return now - one.sent > patience; })) {
    if (pending.repeat) {
      submit_locked(std::move(pending), outbox);
      continue;
    }
    outbox.complete(std::move(pending.done), Status::connection_loss);
  }
}

}  // namespace zkrecipes::connection
