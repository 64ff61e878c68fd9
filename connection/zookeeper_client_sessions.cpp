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

// How often a handle that is being connected is asked for its state, since the C client does not report a refusal; also
// a borrowed handle without a session.
constexpr std::chrono::milliseconds kConnectPoll{10};
constexpr std::chrono::milliseconds kBorrowedPoll{50};
// How long close() waits for answers to what is in flight.
constexpr std::chrono::seconds kLastAnswersPatience{2};
// How long close() waits until the nodes on a borrowed handle are gone.
constexpr std::chrono::seconds kReturnPatience{3};
// Credentials that were refused may have been refused for a passing reason.
constexpr int kAuthAttempts = 3;

/// A server that has owed us an answer for this long is left for another one, if there is one. The C client would wait
/// for two thirds of the timeout, which leaves hardly any of the lease.
LeaseClock::duration silence_limit(std::chrono::milliseconds session_timeout) {
  return session_timeout / 4;
}

/// The longest pause between two rounds of attempts while a session is waiting for one to succeed.
std::chrono::milliseconds longest_pause(std::chrono::milliseconds session_timeout) {
  return std::max<std::chrono::milliseconds>(session_timeout / 20, kConnectPoll);
}

}  // namespace

// ---- What the C client says ----

void ZookeeperClient::apply(SessionEvent event, Time now, Outbox& outbox) {
  switch (event) {
    case SessionEvent::connected: {
      monitor_.tick(now);
      // A session whose lease has run out just now is not taken up again: its nodes are nobody's any more, and go with
      // the handle.
      if (!handle_->borrowed() && monitor_.has_ended()) break;
      const bool continued = monitor_.session() != nullptr;
      monitor_.connected(handle_->session_id(), handle_->session_timeout(), handle_->borrowed() ? now : attempt_began_,
                         now);
      if (monitor_.state() != ConnectionState::connected) break;  // too short a timeout was negotiated
      ++connection_number_;
      last_answer_ = now;
      last_read_sent_ = Time{};
      if (handle_->borrowed()) break;
      session_key_ = handle_->hand_session_over();
      attempt_until_ = Time::max();
      answered_ = false;
      if (continued) {
        take_up_session(outbox);
      } else if (handle_->session_timeout() > options_.session_timeout) {
        LOG(WARNING) << "zkrecipes: the server has raised the session timeout from " << options_.session_timeout.count()
                     << " ms to " << handle_->session_timeout().count()
                     << " ms, its minimum (two ticks by default); ask for three ticks or more, because half a tick is "
                        "all the margin that a lease of two has";
      }
      break;
    }
    case SessionEvent::disconnected:
      monitor_.disconnected();
      if (handle_->borrowed()) {
        note_disconnect();
        break;
      }
      fail_in_flight(outbox);
      note_disconnect();
      give_handle_up();
      // A server that accepts us and drops us before it has answered anything has failed like one that refuses.
      try_next_server(now, answered_ ? std::chrono::milliseconds::zero() : pause_after_failure());
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
      if (++auth_failures_ >= kAuthAttempts || handle_->borrowed()) {
        close_for_good(ErrorCode::not_authorized,
                       "the server refused the credentials of this connection (check scheme and secret)", outbox);
        return end_handles();
      }
      LOG(WARNING) << "zkrecipes: " << rotation_.current() << " refused the credentials of this connection; attempt "
                   << auth_failures_ << " of " << kAuthAttempts;
      monitor_.disconnected();
      fail_in_flight(outbox);
      give_handle_up();
      try_next_server(now, rotation_.session_lost());
      break;
  }
  publish(outbox);
  send_parked(outbox);
  schedule_tick(now);
}

/// The session goes on at another server. That server may be behind what we have seen, or may follow a leader that has
/// been deposed and does not know it. So the first request is one that a quorum must commit: answers come in order, so
/// whatever is read behind it is at least as new as everything we know.
void ZookeeperClient::take_up_session(Outbox& outbox) {
  // A server that we have left closes its connection when it is asked for something and learns that the session moved.
  for (const HandlePtr& left : leaving_) {
    Request request{RequestKind::set, "/"};
    request.version = HeartbeatPlan::kImpossibleVersion;
    left->issue(request, left->next_request());
  }
  Pending barrier(monitor_.session(), {RequestKind::set, "/"}, nullptr);
  barrier.request.version = HeartbeatPlan::kImpossibleVersion;
  barrier.background = true;
  transmit(std::move(barrier), outbox);
  WatchTable::Reconnected watches = watches_.reconnected();
  for (WatchTable::Rewatch& again : watches.again) transmit(rewatch(again.id, std::move(again.path)), outbox);
  for (WatchHandler& handler : watches.children)
    outbox.add([handler = std::move(handler)] { handler(WatchEvent::children_changed); });
}

ZookeeperClient::Pending ZookeeperClient::rewatch(WatchId id, std::string path) {
  Request request{RequestKind::get, path};
  request.watch = true;
  Pending pending(monitor_.session(), std::move(request),
                  [weak = weak_from_this(), id, path = std::move(path)](const Reply& reply) {
                    if (const auto self = weak.lock()) self->rewatched(id, path, reply);
                  });
  pending.repeat = true;
  pending.background = true;
  return pending;
}

void ZookeeperClient::rewatched(WatchId id, const std::string& path, const Reply& reply) {
  WatchTable::Missed missed;
  Outbox outbox;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (reply.status == Status::ok && reply.connection != connection_number_ && monitor_.session()) {
      // The connection on which the watch was set is over before its answer was taken in.
      submit_locked(rewatch(id, path), outbox);
    } else {
      missed = watches_.rewatched(id, reply);
      send_unwatch(std::move(missed.unwatch), outbox);
    }
  }
  outbox.post_to(loop_);
  for (WatchHandler& handler : missed.handlers) handler(missed.event);
}

void ZookeeperClient::note_borrowed_state(Outbox& outbox, Time now) {
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
void ZookeeperClient::ask_for_proof(Time now) {
  listen_on_borrowed_handle(nullptr, now);
}

/// A read of "/" on a borrowed handle, which also keeps session events coming.
void ZookeeperClient::listen_on_borrowed_handle(SessionPtr session, Time now) {
  Pending question(std::move(session), {RequestKind::exists, "/"}, nullptr);
  question.background = true;
  question.sent = now;
  question.connection = connection_number_;
  const std::uint64_t number = handle_->next_request();
  if (handle_->listen_for_session_events(number) == Status::ok) in_flight_.add(number, std::move(question));
}

// ---- What follows from it ----

void ZookeeperClient::publish(Outbox& outbox) {
  const auto now = LeaseClock::now();
  const std::vector<SessionPtr> ended = monitor_.take_ended();
  for (const SessionPtr& session : ended) {
    session->end(now);  // before anybody is told that something of it failed
    drop_session(session, outbox);
    outbox.add([session, now] { session->announce_over(now); });
    no_session_since_ = now;
  }
  const std::vector<ConnectionState> changes = monitor_.take_changes();
  for (const ConnectionState state : changes) {
    const ConnectionState before = state_.exchange(state);
    log_state(before, state, now);
    notices_.post(
        [self = shared_from_this(), state, number = ++state_number_] { self->state_changed_(state, number); });
  }
  if (!changes.empty()) {
    boost::lock_guard<boost::mutex> lock(wait_mutex_);
    wait_changed_.notify_all();
  }
  if (!ended.empty() && !closed_ && !borrowed_nodes_.remembers()) {
    session_key_.reset();
    forget_sizes();
    end_handles();
    try_next_server(now, rotation_.session_lost());
  }
  if (monitor_.session() && handle_ && handle_->borrowed()) remove_leftovers(monitor_.session(), outbox);
  // Not while suspended: requests of acquires that are given up meanwhile would stay until the session is back or over.
  if (monitor_.session() && monitor_.state() == ConnectionState::connected)
    for (auto& [id, done] : std::exchange(awaiting_session_, {}))
      outbox.add([done = std::move(done), session = monitor_.session()] { done(Status::ok, session); });
}

void ZookeeperClient::log_state(ConnectionState before, ConnectionState state, Time now) {
  if (state == ConnectionState::suspended) disconnected_at_ = now;
  if (state == ConnectionState::suspended || state == ConnectionState::lost) {
    LOG(WARNING) << "zkrecipes: connection to " << options_.servers << " is " << to_string(state);
  } else if (state == ConnectionState::connected &&
             (before == ConnectionState::suspended || before == ConnectionState::lost)) {
    const auto away = std::chrono::duration_cast<std::chrono::milliseconds>(now - disconnected_at_);
    LOG(INFO) << "zkrecipes: connection to " << options_.servers << " is back after " << away.count() << " ms, "
              << (before == ConnectionState::suspended ? "with the same session" : "with a new session")
              << (rotation_.empty() ? "" : " at ") << rotation_.current();
  } else {
    VLOG(1) << "zkrecipes: connection to " << options_.servers << " is " << to_string(state);
  }
}

void ZookeeperClient::drop_session(const SessionPtr& session, Outbox& outbox) {
  const Status status = closed_ ? Status::closed : Status::session_over;
  if (closed_ && handle_ && handle_->borrowed()) unwatch_on_return_ = watches_.unwatch_all();
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
  for (auto& [id, done] : std::exchange(awaiting_session_, {}))
    outbox.add([done = std::move(done)] { done(Status::closed, nullptr); });
}

// ---- Closing; and borrowed handles, whose session lives on when our lease on it has run out or when we close ----

void ZookeeperClient::remove_leftovers(const SessionPtr& session, Outbox& outbox) {
  if (session == leftovers_removed_in_) return;
  leftovers_removed_in_ = session;
  outbox.add([self = shared_from_this(), session, leftovers = borrowed_nodes_.take()] {
    for (const BorrowedNodes::Node& node : leftovers.nodes)
      remove_if_ours(*self, session, node.path, {node.czxid, {}}, nullptr);
    for (const BorrowedNodes::Doubt& doubt : leftovers.in_doubt) {
      if (doubt.guid_place == GuidPlace::in_data) {
        remove_if_ours(*self, session, join(doubt.parent, doubt.name), {0, doubt.guid}, nullptr);
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
  if (request.connection != 0 && request.connection != connection_number_) return false;
  Pending pending(nullptr, std::move(request), std::move(done));
  pending.background = true;
  pending.connection = connection_number_;
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
  const auto remove_if_marked = [issue](const std::string& path, const NodeMark& mark) {
    issue({RequestKind::sync, path}, nullptr);
    issue({RequestKind::get, path}, [issue, path, mark](const Reply& reply) {
      const bool ours =
          mark.czxid != 0 ? reply.stat.czxid == mark.czxid : reply.data.find(mark.guid_in_data) != std::string::npos;
      if (!ours) return;
      Request removal{RequestKind::remove, path};
      removal.connection = reply.connection;
      issue(std::move(removal), nullptr);
    });
  };
  for (const BorrowedNodes::Node& node : leftovers.nodes) {
    if (node.czxid == 0)
      issue({RequestKind::remove, node.path}, nullptr);
    else
      remove_if_marked(node.path, {node.czxid, {}});
  }
  for (const BorrowedNodes::Doubt& doubt : leftovers.in_doubt) {
    if (doubt.guid_place == GuidPlace::in_data) {
      remove_if_marked(join(doubt.parent, doubt.name), {0, doubt.guid});
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

// ---- Servers and handles ----

bool ZookeeperClient::connecting() const {
  return handle_ && !handle_->borrowed() && monitor_.state() != ConnectionState::connected;
}

/// Since when the server has owed us an answer.
std::optional<ZookeeperClient::Time> ZookeeperClient::silent_since() const {
  const bool could_leave = handle_ && !handle_->borrowed() && rotation_.size() > 1;
  if (!could_leave || monitor_.state() != ConnectionState::connected || in_flight_.empty()) return std::nullopt;
  return std::max({last_answer_, in_flight_.front()->sent, awake_since_});
}

/// The handle stays connected until the C client notices the silence or the server notices that the session has moved.
/// Closing it before that could end the session.
void ZookeeperClient::leave_server(Outbox& outbox) {
  LOG(WARNING) << "zkrecipes: server " << rotation_.current() << " does not answer; trying another one";
  leaving_.push_back(std::exchange(handle_, nullptr));
  monitor_.disconnected();
  fail_in_flight(outbox);
  largest_lost_ = 0;  // it was not the server that ended the connection
}

/// The handle is not connected.
void ZookeeperClient::give_handle_up() {
  handle_->hand_session_over();
  dropper_.post([self = shared_from_this(), handle = std::exchange(handle_, nullptr)]() mutable {
    self->drop_handle(std::move(handle));
  });
}

void ZookeeperClient::drop_handle(HandlePtr handle) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    // The C client reports a disconnect before its own state says so, and may even have connected again before the
    // session was handed over. The next report tells; until then closing the handle could end the session.
    const bool ours = !closed_ && session_key_ && session_key_->id == handle->session_id();
    if (ours && handle->state() == SessionEvent::connected) {
      handle->hand_session_over();
      leaving_.push_back(std::move(handle));
      return;
    }
  }
  handle->close();
}

void ZookeeperClient::on_leaving_handle_event(std::uint32_t handle, SessionEvent event) {
  const auto found =
      std::find_if(leaving_.begin(), leaving_.end(), [&](const HandlePtr& one) { return one->number() == handle; });
  if (found == leaving_.end()) return;
  if (event == SessionEvent::connected) {
    (*found)->hand_session_over();  // the C client has written the key again
    return;
  }
  dropper_.post(
      [self = shared_from_this(), left = std::move(*found)]() mutable { self->drop_handle(std::move(left)); });
  leaving_.erase(found);
}

/// The session is over. Handles that are still connected tell the server so.
void ZookeeperClient::end_handles() {
  if (handle_ && handle_->borrowed()) return;
  attempt_until_ = Time::max();
  std::vector<HandlePtr> handles = std::exchange(leaving_, {});
  if (handle_) handles.push_back(std::exchange(handle_, nullptr));
  for (HandlePtr& handle : handles) {
    TaskThread& thread = handle->state() == SessionEvent::connected ? ender_ : dropper_;
    thread.post([handle = std::move(handle)] { handle->close(); });
  }
}

void ZookeeperClient::try_next_server(Time now, std::chrono::milliseconds pause) {
  attempt_at_ = now + pause;
  if (pause == std::chrono::milliseconds::zero())
    open_handle(now);
  else
    schedule_tick(attempt_at_);
}

void ZookeeperClient::open_handle(Time now) {
  attempt_at_ = Time::max();
  if (closed_ || handle_) return;
  request_addresses();
  if (!rotation_.empty()) {
    try {
      handle_ = ZookeeperHandle::open(
          {rotation_.next(), session_key_, options_.session_timeout, options_.credentials, options_.tls}, options_.acl,
          weak_from_this());
    } catch (const Error& error) {
      LOG(ERROR) << "zkrecipes: " << error.what();
    }
  }
  if (handle_) {
    attempt_began_ = now;
    attempt_until_ = now + rotation_.patience(pace());
  } else {
    attempt_at_ = now + pause_after_failure();
  }
  schedule_tick(std::min<Time>(attempt_at_, now + kConnectPoll));
}

/// The timeout that what renews the leases has to keep up with.
std::chrono::milliseconds ZookeeperClient::pace() const {
  return monitor_.session() ? monitor_.session()->shortest_timeout() : options_.session_timeout;
}

std::chrono::milliseconds ZookeeperClient::pause_after_failure() {
  return rotation_.failed(monitor_.session() ? longest_pause(pace()) : std::chrono::milliseconds::max());
}

/// Names are resolved again whenever a server is needed: the servers may have moved. Attempts do not wait for it.
void ZookeeperClient::request_addresses() {
  if (resolving_ || is_numeric(servers_.hosts)) return;
  resolving_ = true;
  resolver_.post([self = shared_from_this()] {
    std::string problem;
    const std::vector<std::string> addresses = resolve(self->servers_.hosts, problem);
    self->on_addresses(addresses, problem);
  });
}

void ZookeeperClient::on_addresses(const std::vector<std::string>& addresses, const std::string& problem) {
  if (!problem.empty()) {
    LOG_EVERY_T(WARNING, 5) << "zkrecipes: cannot resolve " << problem;
  }
  std::lock_guard<std::mutex> lock(mutex_);
  resolving_ = false;
  if (closed_ || addresses.empty()) return;
  const bool first = rotation_.empty();
  // A name that does not resolve for the moment says nothing about the server's address.
  if (problem.empty())
    rotation_.replace(addresses);
  else
    rotation_.add(addresses);
  const auto now = LeaseClock::now();
  const bool moved =
      problem.empty() && std::find(addresses.begin(), addresses.end(), rotation_.current()) == addresses.end();
  if (connecting() && moved) {
    give_handle_up();
    open_handle(now);
  } else if (!handle_ && first) {
    open_handle(now);
  }
}

// ---- What time brings ----

void ZookeeperClient::tick(Time scheduled) {
  Outbox outbox;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (closed_ || scheduled != tick_scheduled_) return;  // superseded by an earlier one
    tick_scheduled_ = Time::max();
    const auto now = LeaseClock::now();
    try {
      tick_locked(now, outbox);
    } catch (const std::exception& error) {
      // Without another tick there would be no heartbeat any more.
      LOG(ERROR) << "zkrecipes: the heartbeat failed: " << error.what() << "; trying again";
    }
    if (!closed_) schedule_tick(next_tick(now));
  }
  outbox.run();
}

void ZookeeperClient::tick_locked(Time now, Outbox& outbox) {
  const auto timeout = pace();
  // A process that was stopped has not listened, so it cannot say that the server was silent.
  if (now - std::exchange(last_tick_, now) > timeout / 8) awake_since_ = now;
  monitor_.tick(now);
  publish(outbox);
  if (handle_ && handle_->borrowed()) note_borrowed_state(outbox, now);
  if (closed_) return;
  if (connecting() && (handle_->was_refused() || now >= attempt_until_)) {
    give_handle_up();
    try_next_server(now, pause_after_failure());
  } else if (!handle_ && now >= attempt_at_) {
    open_handle(now);
  }
  for (auto left = leaving_.begin(); left != leaving_.end();) {
    if ((*left)->state() == SessionEvent::connected) {
      ++left;
      continue;
    }
    dropper_.post([handle = std::move(*left)] { handle->close(); });
    left = leaving_.erase(left);
  }
  const auto silence = silent_since();
  if (silence && now >= *silence + silence_limit(timeout)) {
    leave_server(outbox);
    publish(outbox);
    try_next_server(now, std::chrono::milliseconds::zero());
  }
  if (monitor_.state() == ConnectionState::connected && now >= next_heartbeat()) send_heartbeat(now, outbox);
  fail_overdue(now, outbox);
  const auto patience = options_.retry.give_up_after;
  if (!monitor_.session() && patience.count() > 0 && now >= no_session_since_ + patience) {
    close_for_good(ErrorCode::connection_closed,
                   "no session with " + options_.servers + " could be had for " + std::to_string(patience.count()) +
                       " ms; check that the servers run and can be reached, or raise RetryPolicy::give_up_after",
                   outbox);
    end_handles();
  }
}

ZookeeperClient::Time ZookeeperClient::next_heartbeat() const {
  const auto interval = HeartbeatPlan::interval(pace());
  const Time sent = heartbeat_.holds() > 0 ? std::min(last_read_sent_, last_proof_sent_) : last_read_sent_;
  return sent + interval;
}

ZookeeperClient::Time ZookeeperClient::next_tick(Time now) const {
  Time next = now + std::chrono::seconds(1);
  if (const auto deadline = monitor_.deadline())
    next = std::min(next, *deadline);
  else if (options_.retry.give_up_after.count() > 0)
    next = std::min<Time>(next, no_session_since_ + options_.retry.give_up_after);
  if (monitor_.state() == ConnectionState::connected) {
    next = std::min(next, next_heartbeat());
    if (const auto silence = silent_since()) next = std::min<Time>(next, *silence + silence_limit(pace()));
  } else if (handle_) {
    next = std::min<Time>(next, now + (handle_->borrowed() ? kBorrowedPoll : kConnectPoll));
  } else {
    next = std::min(next, attempt_at_);
  }
  return next;
}

void ZookeeperClient::schedule_tick(Time time) {
  if (time >= tick_scheduled_) return;
  tick_scheduled_ = time;
  loop_.post_at(to_public(time), [weak = weak_from_this(), time] {
    if (const auto self = weak.lock()) self->tick(time);
  });
}

void ZookeeperClient::send_heartbeat(Time now, Outbox& outbox) {
  last_read_sent_ = now;
  const auto background = [&](Request request, ReplyHandler done) {
    Pending pending(monitor_.session(), std::move(request), std::move(done));
    pending.background = true;
    transmit(std::move(pending), outbox);  // ahead of what waits for room: the lease does not wait
  };
  bool sent = false;
  ProbeId asked = 0;
  if (heartbeat_.holds() > 0 && now >= last_proof_sent_ + HeartbeatPlan::interval(pace())) {
    sent = true;
    if (options_.lease_proof == LeaseProof::leader) {
      background({RequestKind::sync, "/"}, nullptr);
    } else {
      const HeartbeatPlan::Target target = *heartbeat_.next_target();
      Request request{RequestKind::set, target.path};
      request.version = HeartbeatPlan::kImpossibleVersion;
      background(std::move(request), reports_gone(target.id));
      if (target.unique_path) asked = target.id;
    }
  }
  for (const auto& [id, path] : heartbeat_.next_batch(asked)) {
    background({RequestKind::exists, path}, reports_gone(id));
    sent = true;
  }
  if (handle_->borrowed())
    listen_on_borrowed_handle(monitor_.session(), now);
  else if (!sent)
    background({RequestKind::exists, "/"}, nullptr);
}

/// Takes the answer to a heartbeat about one of our nodes.
ReplyHandler ZookeeperClient::reports_gone(ProbeId id) {
  return [weak = weak_from_this(), id](const Reply& reply) {
    const auto self = weak.lock();
    if (!self || (reply.status != Status::no_node && reply.status != Status::ok)) return;
    std::function<void()> gone;
    {
      std::lock_guard<std::mutex> lock(self->mutex_);
      if (reply.status == Status::ok && self->heartbeat_.is_same(id, reply.stat.czxid)) return;
      gone = self->heartbeat_.take(id);
      self->monitor_.set_relied_on(self->heartbeat_.holds() > 0);
    }
    if (gone) gone();
  };
}

/// The connection is lost, and with it the answers to all that is in flight.
void ZookeeperClient::fail_in_flight(Outbox& outbox) {
  std::vector<Pending> lost = in_flight_.take_if([](const Pending&) { return true; });
  for (const Pending& pending : lost) note_lost(pending);
  std::deque<Pending> again;
  for (Pending& pending : lost) {
    if (pending.repeat) {
      again.push_back(std::move(pending));
      continue;
    }
    outbox.complete(std::move(pending.done), Status::connection_loss);
  }
  // Ahead of what was to be sent after them.
  parked_.insert(parked_.begin(), std::make_move_iterator(again.begin()), std::make_move_iterator(again.end()));
}

void ZookeeperClient::fail_overdue(Time now, Outbox& outbox) {
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
