// SPDX-License-Identifier: Apache-2.0
#include "connection/session_keeper.h"

#include <algorithm>
#include <utility>

#include "connection/c_client_log.h"

namespace zkrecipes::detail {

namespace {
// How long a close waits for answers to what is in flight.
constexpr std::chrono::seconds kLastAnswersPatience{2};
// An outage that is over by then is no more than the line that says so.
constexpr std::chrono::seconds kShortOutage{1};
// An outage that lasts is logged again after this time.
constexpr std::chrono::seconds kLogOutageAgain{30};

std::string milliseconds(LeaseClock::duration time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(time).count()) + " ms";
}

}  // namespace

SessionKeeper::SessionKeeper(const ConnectionParts& parts)
    : parts_(parts),
      monitor_(parts.options.validity_margin),
      servers_(parts.options.servers),
      disconnected_at_(parts.world.lease_now()),
      log_outage_at_(disconnected_at_ + kShortOutage),
      no_session_since_(disconnected_at_) {}

void SessionKeeper::start(GuardPtr guard, std::weak_ptr<HandleListener> listener) {
  guard_ = std::move(guard);
  listener_ = std::move(listener);
  const Time now = parts_.world.lease_now();
  begin(now);
  schedule_tick(now);
}

std::chrono::milliseconds SessionKeeper::pace() const {
  return session() ? session()->shortest_timeout() : parts_.options.session_timeout;
}

// ---- Sessions ----

AwaitId SessionKeeper::await_session(Client::SessionHandler done, Outbox& outbox) {
  if (closed_) {
    outbox.add([done = std::move(done)] { done(Status::closed, nullptr); });
    return 0;
  }
  if (session() && is_connected()) {
    outbox.add([done = std::move(done), session = session()] { done(Status::ok, session); });
    return 0;
  }
  const AwaitId id = next_await_++;
  awaiting_session_.emplace(id, std::move(done));
  return id;
}

AwaitId SessionKeeper::await_disconnect(std::function<void()> done, Outbox& outbox) {
  if (!is_connected()) {
    outbox.add(std::move(done));
    return 0;
  }
  const AwaitId id = next_await_++;
  awaiting_disconnect_.emplace(id, [done = std::move(done)](Status, const SessionPtr&) { done(); });
  return id;
}

Client::SessionHandler SessionKeeper::cancel_await(AwaitId id) {
  auto node = awaiting_session_.extract(id);
  if (!node) node = awaiting_disconnect_.extract(id);
  return node ? std::move(node.mapped()) : nullptr;
}

bool SessionKeeper::enter_session(const HandlePtr& handle, Time sent, Time now) {
  monitor_.connected(handle->session_id(), handle->session_timeout(), sent, now);
  if (!is_connected()) return false;
  touches_.connected(sent);
  parts_.pipeline.begin_session(session());
  parts_.pipeline.connected(handle);
  last_read_sent_ = Time{};
  return true;
}

void SessionKeeper::publish(Time now, Outbox& outbox) {
  // What was not carried out, because something was thrown, is left for the next tick.
  SessionPtr over;
  while (!monitor_.ended().empty()) {
    const SessionPtr session = monitor_.ended().front();
    over = session;
    ended_session_id_ = session->id();
    if (closed_) session->note_closed();
    session->end(now);  // before anybody is notified that something of it failed
    parts_.pipeline.end_session(session, outbox);
    heartbeat_.clear();
    outbox.add([session, now] { session->announce_over(now); });
    no_session_since_ = now;
    end_noticed_ = true;
    monitor_.drop_ended();
  }
  while (!monitor_.changes().empty()) {
    const ConnectionState state = monitor_.changes().front();
    log_state(parts_.states.state(), state, now, outbox);
    if (parts_.events) observe_state(parts_.states.state(), state, over, outbox);
    parts_.states.enter(state, listener_.lock());
    monitor_.drop_change();
  }
  if (end_noticed_ && !closed_) session_ended(now, outbox);
  end_noticed_ = false;
  if (!is_connected()) {
    for (auto& [id, done] : std::exchange(awaiting_disconnect_, {}))
      outbox.add([done = std::move(done)] { done(Status::connection_loss, nullptr); });
  }
  // Not while suspended: requests of acquires that are given up meanwhile would stay until the session is back or over.
  if (!session() || !is_connected()) return;
  session_connected(outbox);
  for (auto& [id, done] : std::exchange(awaiting_session_, {}))
    outbox.add([done = std::move(done), session = session()] { done(Status::ok, session); });
}

void SessionKeeper::log(LogSeverity severity, std::string line, Outbox& outbox) const {
  outbox.add([log = parts_.log, severity, line = std::move(line)] { log->write(severity, line); });
}

std::string SessionKeeper::lost_line() const {
  return "the session with " + servers_ + " is over; a new one is being made";
}

/// One line for a reconnect: that it was made. An outage that lasts is a line of its own, see log_outage().
void SessionKeeper::log_state(ConnectionState before, ConnectionState state, Time now, Outbox& outbox) {
  if (before == ConnectionState::connected) {
    disconnected_at_ = now;
    log_outage_at_ = now + kShortOutage;
  }
  if (state == ConnectionState::lost) {
    log(LogSeverity::warning, lost_line(), outbox);
  } else if (state == ConnectionState::connected) {
    log_outage_at_ = Time::max();
    const std::string why = std::exchange(trouble_, {});
    // That of a handle which is lent can come back after its lease ran out.
    const bool is_same = before == ConnectionState::suspended || (session() && session()->id() == ended_session_id_);
    if (before != ConnectionState::suspended && before != ConnectionState::lost) return;
    log(LogSeverity::info,
        "the connection to " + servers_ + " is back after " + milliseconds(now - disconnected_at_) + ", " +
            (is_same ? "with the same session" : "with a new session") + (where().empty() ? "" : " at " + where()) +
            (why.empty() ? "" : " (it was lost: " + why + ")"),
        outbox);
  } else if (parts_.log->shows_details()) {
    outbox.add(
        [log = parts_.log, line = "the connection to " + servers_ + " is " + to_string(state)] { log->detail(line); });
  }
}

void SessionKeeper::log_outage(Time now, Outbox& outbox) {
  if (now < log_outage_at_) return;
  log_outage_at_ = now + kLogOutageAgain;
  log(LogSeverity::warning,
      "no connection to " + servers_ + " for " + milliseconds(now - disconnected_at_) +
          (trouble_.empty() ? "" : ": " + trouble_),
      outbox);
}

/// It is the reason of an outage, as a rule, and is logged with that. If none begins, it is logged by itself.
void SessionKeeper::note_trouble(std::string text, Time now) {
  trouble_ = std::move(text);
  trouble_at_ = now;
}

void SessionKeeper::log_trouble(Time now, Outbox& outbox) {
  if (trouble_.empty() || !is_connected() || now < trouble_at_ + kShortOutage) return;
  log(LogSeverity::warning, CClientLog::kSays + std::exchange(trouble_, {}), outbox);
}

// ---- The observer ----

void SessionKeeper::observe(ObserverEvent event, Outbox& outbox) const {
  parts_.events->record(std::move(event));
  outbox.add([events = parts_.events] { events->deliver(); });
}

/// `ended`: the session that is over with this change, or with one that is noticed at the same time; may be null.
void SessionKeeper::observe_state(ConnectionState before, ConnectionState state, const SessionPtr& ended,
                                  Outbox& outbox) {
  const bool is_end = state == ConnectionState::lost || state == ConnectionState::closed;
  const bool is_about_present = state == ConnectionState::connected || (state == ConnectionState::suspended && !ended);
  observe(StateChanged{state, before, is_about_present && session() ? session()->id() : ended_session_id_,
                       is_end && ended && ended->has_expired()},
          outbox);
}

void SessionKeeper::observe_heartbeat(const Pending& pending, Time now, Outbox& outbox) {
  HeartbeatAnswered answered;
  answered.round_trip = now - pending.sent;
  if (monitor_.relied_on()) answered.lease_left = pending.session->lease().valid_until() - now;
  answered.holds = heartbeat_.holds();
  answered.requests_in_flight = parts_.pipeline.in_flight();
  answered.requests_waiting = parts_.pipeline.waiting();
  observe(answered, outbox);
}

std::exception_ptr SessionKeeper::closed_error() const {
  if (close_code_ == ErrorCode::not_authorized) return std::make_exception_ptr(NotAuthorized(close_reason_));
  return std::make_exception_ptr(ConnectionClosed(close_reason_));
}

void SessionKeeper::close(Outbox& outbox) {
  if (!closed_) end(ErrorCode::connection_closed, "the connection was closed", outbox);
}

void SessionKeeper::fail(ErrorCode code, std::string reason, Outbox& outbox) {
  if (closed_) return;
  log(LogSeverity::error, "the connection to " + servers_ + " is closed for good: " + reason, outbox);
  end(code, std::move(reason), outbox);
}

void SessionKeeper::end(ErrorCode code, std::string reason, Outbox& outbox) {
  closed_ = true;
  close_code_ = code;
  close_reason_ = std::move(reason);
  closing();
  parts_.pipeline.close();
  monitor_.closed();
  publish(parts_.world.lease_now(), outbox);
  for (auto& [id, done] : std::exchange(awaiting_session_, {}))
    outbox.add([done = std::move(done)] { done(Status::closed, nullptr); });
}

std::function<void()> SessionKeeper::await_last_answers(Handle& handle) {
  const auto latch = parts_.world.make_latch();
  Pending last(nullptr, {RequestKind::exists, "/"}, [latch](const Reply&) { latch->set(); });
  last.background = true;
  if (handle.state() != SessionEvent::connected || !parts_.pipeline.issue(handle, std::move(last))) return [] {};
  return [latch] { latch->wait_for(kLastAnswersPatience); };
}

// ---- Answers ----

void SessionKeeper::on_reply(const Pending& pending, Status status, bool was_answered, Time now, Outbox& outbox) {
  if (was_answered) {
    if (pending.measured && pending.session == session()) observe_heartbeat(pending, now, outbox);
    if (pending.session) renew_leases(pending, now, outbox);
    answered(pending, now, outbox);
  } else {
    not_answered(status, now, outbox);
  }
}

void SessionKeeper::renew_leases(const Pending& pending, Time now, Outbox& outbox) {
  Session& session = *pending.session;
  bool alive = session.contact().renew(pending.sent, now, true);
  if (parts_.pipeline.proves_lease(pending.request.kind))
    alive = session.lease().renew(counted_from(session, pending.sent), now, monitor_.relied_on()) && alive;
  const bool by_leader =
      parts_.pipeline.proves_lease(pending.request.kind) || pending.request.kind == RequestKind::sync;
  touches_.answered(pending.sent, now, by_leader, session.shortest_timeout());
  if (alive) return;
  // The answer came after the lease had run out: the end of the session is only now being noticed.
  monitor_.tick(now);
  publish(now, outbox);
}

/// A proof that was sent then is worth no more than this. The lease may begin later than the leader has certainly heard
/// of us by as much as is kept back from the timeout, less what clocks may differ in that time.
SessionKeeper::Time SessionKeeper::counted_from(const Session& session, Time sent) const {
  const LeaseClock::duration timeout = session.shortest_timeout();
  const auto slack = std::max<LeaseClock::duration>(timeout - session.lease().length() - timeout / kDriftShare, {});
  return std::min<Time>(sent, touches_.known_to_leader(sent, timeout) + slack);
}

// ---- Nodes that are asked after ----

ProbeId SessionKeeper::probe(const SessionPtr& of, const std::string& path, NodeRole role, std::int64_t czxid,
                             std::function<void()> gone) {
  if (closed_ || !of || of != session()) return 0;  // over: its holds are notified of that
  const ProbeId id = heartbeat_.add(path, role, czxid, std::move(gone));
  monitor_.set_relied_on(heartbeat_.holds() > 0);
  return id;
}

std::function<void()> SessionKeeper::unprobe(ProbeId id) {
  std::function<void()> dropped = heartbeat_.take(id);
  monitor_.set_relied_on(heartbeat_.holds() > 0);
  return dropped;
}

/// Takes the answer to a heartbeat about one of our nodes.
ReplyHandler SessionKeeper::reports_gone(ProbeId id) {
  return [this, guard = guard_, id](const Reply& reply) {
    if (reply.status != Status::no_node && reply.status != Status::ok) return;
    run_guarded(guard, [&](Outbox& outbox) {
      if (reply.status == Status::ok && heartbeat_.is_same(id, reply.stat.czxid)) return;
      if (std::function<void()> gone = unprobe(id)) outbox.add(std::move(gone));
    });
  };
}

// ---- What time brings ----

void SessionKeeper::schedule_tick(Time time) {
  if (time >= tick_scheduled_) return;
  tick_scheduled_ = time;
  parts_.loop.post_at(parts_.world.to_public(time),
                      guarded(guard_, [this, time](Outbox& outbox) { tick(time, outbox); }));
}

void SessionKeeper::tick(Time scheduled, Outbox& outbox) {
  if (closed_ || scheduled != tick_scheduled_) return;  // superseded by an earlier one
  tick_scheduled_ = Time::max();
  const Time now = parts_.world.lease_now();
  try {
    tick_all(now, outbox);
  } catch (const std::exception& error) {
    // Without another tick there would be no heartbeat any more.
    log(LogSeverity::error, std::string("the heartbeat failed and is tried again: ") + error.what(), outbox);
  }
  if (!closed_) schedule_tick(next_tick(now));
}

void SessionKeeper::tick_all(Time now, Outbox& outbox) {
  monitor_.tick(now);
  publish(now, outbox);
  tick_handles(now, outbox);
  if (closed_) return;
  log_outage(now, outbox);
  log_trouble(now, outbox);
  if (is_connected() && now >= next_heartbeat()) send_heartbeat(now, outbox);
  parts_.pipeline.fail_overdue(now, outbox);
  const auto patience = parts_.options.retry.give_up_after;
  if (!session() && patience.count() > 0 && now >= no_session_since_ + patience) {
    fail(ErrorCode::connection_closed,
         "no session with " + servers_ + " could be had for " + std::to_string(patience.count()) +
             " ms; check that the servers run and can be reached, or raise RetryPolicy::give_up_after",
         outbox);
    session_ended(now, outbox);
  }
}

SessionKeeper::Time SessionKeeper::next_heartbeat() const {
  const Time sent =
      heartbeat_.holds() > 0 ? std::min(last_read_sent_, parts_.pipeline.last_proof_sent()) : last_read_sent_;
  return sent + HeartbeatPlan::interval(pace());
}

SessionKeeper::Time SessionKeeper::next_tick(Time now) const {
  Time next = std::min<Time>(now + std::chrono::seconds(1), next_handle_tick(now));
  if (const auto deadline = monitor_.deadline())
    next = std::min(next, *deadline);
  else if (parts_.options.retry.give_up_after.count() > 0)
    next = std::min<Time>(next, no_session_since_ + parts_.options.retry.give_up_after);
  return is_connected() ? std::min(next, next_heartbeat()) : next;
}

void SessionKeeper::send_background(Request request, ReplyHandler done, Outbox& outbox, Measured measured) {
  Pending pending(session(), std::move(request), std::move(done));
  pending.background = true;
  pending.measured = measured == Measured::yes && parts_.events;
  parts_.pipeline.submit_first(std::move(pending), outbox);  // the lease does not wait for room
}

void SessionKeeper::send_heartbeat(Time now, Outbox& outbox) {
  last_read_sent_ = now;
  bool sent = false;
  bool proved = false;
  ProbeId asked = 0;
  if (heartbeat_.holds() > 0 && now >= parts_.pipeline.last_proof_sent() + HeartbeatPlan::interval(pace())) {
    sent = proved = true;
    if (parts_.options.lease_proof == LeaseProof::leader) {
      send_background({RequestKind::sync, "/"}, nullptr, outbox, Measured::yes);
    } else {
      const HeartbeatPlan::Target target = *heartbeat_.next_target();
      send_background(refused_write(target.path), reports_gone(target.id), outbox, Measured::yes);
      if (target.unique_path) asked = target.id;
    }
  }
  for (const auto& [id, path] : heartbeat_.next_batch(asked)) {
    send_background({RequestKind::exists, path}, reports_gone(id), outbox);
    sent = true;
  }
  // Shows what the leader knows of us, so that a lease can begin at any time; see TouchHistory. Nothing is logged for
  // it.
  if (!proved) send_background({RequestKind::sync, "/"}, nullptr, outbox, Measured::yes);
  send_light_heartbeat(sent, now, outbox);
}

}  // namespace zkrecipes::detail
