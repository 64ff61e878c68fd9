// SPDX-License-Identifier: Apache-2.0
#include "connection/own_session_keeper.h"

#include <algorithm>
#include <utility>

namespace zkrecipes::detail {

namespace {

// How often a handle that is being connected is asked for its state, since the C client does not report a refusal.
constexpr std::chrono::milliseconds kConnectPoll{10};
// When to try again if something was thrown in the middle of an attempt, for instance because memory is short.
constexpr std::chrono::seconds kRetryAfterException{1};
// Credentials that were refused may have been refused for a passing reason.
constexpr int kAuthAttempts = 3;
// Names of a new list that do not resolve are looked up again after this time.
constexpr std::chrono::seconds kLookUpAgain{1};
// Names that do not resolve are logged again after this time.
constexpr std::chrono::seconds kLogAgain{30};
// When to try again to move to servers that have refused the credentials.
constexpr std::chrono::seconds kMoveAgain{30};

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

OwnSessionKeeper::OwnSessionKeeper(const ConnectionParts& parts, std::vector<HostPort> hosts)
    : SessionKeeper(parts), hosts_(std::move(hosts)), rotation_(parts.options.retry, parts.world) {}

void OwnSessionKeeper::begin(Time now) {
  if (is_numeric(hosts_)) {
    std::string none;
    rotation_.replace(parts_.world.resolve(hosts_, none));
  }
  attempt_at_ = now;
}

// ---- What the handle reports ----

void OwnSessionKeeper::on_session_event(std::uint32_t handle, SessionEvent event, Time now, Outbox& outbox) {
  if (is_closed()) return;
  if (successor_.handle && successor_.handle->number() == handle) {
    if (event != SessionEvent::connected) return successor_failed(event, now, outbox);
    take_over(outbox);
  }
  if (!listens_to(handle)) return on_leaving_handle_event(handle, event);
  switch (event) {
    case SessionEvent::connected:
      connected(now, outbox);
      break;
    case SessionEvent::disconnected:
      disconnected(now, outbox);
      break;
    case SessionEvent::expired:
      monitor_.expired();
      break;
    case SessionEvent::auth_failed:
      auth_failed(now, outbox);
      break;
  }
  publish(now, outbox);
  parts_.pipeline.send_waiting(outbox);
  schedule_tick(now);
}

void OwnSessionKeeper::connected(Time now, Outbox& outbox) {
  monitor_.tick(now);
  // A session whose lease has run out just now is not taken up again: its nodes are nobody's any more, and are removed
  // with the handle.
  if (monitor_.has_ended()) return;
  const bool continued = session() != nullptr;
  if (!enter_session(handle_, attempt_began_, now)) return;
  last_answer_ = now;
  observe_server(outbox);
  session_key_ = handle_->hand_session_over();
  attempt_until_ = Time::max();
  // The list may have been replaced again since the attempt began.
  move_at_ = Time::max();
  if (!rotation_.contains(address_)) move_from(address_, now);
  answered_ = false;
  if (continued) return continue_session(outbox);
  const auto asked = parts_.options.session_timeout;
  if (handle_->session_timeout() > asked)
    log(LogSeverity::warning,
        "the server has raised the session timeout from " + std::to_string(asked.count()) + " ms to " +
            std::to_string(handle_->session_timeout().count()) +
            " ms, its minimum (two ticks by default); ask for three ticks or more, because half a tick is all the "
            "margin that a lease of two has",
        outbox);
}

void OwnSessionKeeper::observe_server(Outbox& outbox) {
  if (!parts_.events || address_ == observed_server_) return;
  observe(ServerChanged{address_, std::exchange(observed_server_, address_), session()->id()}, outbox);
}

/// The session goes on at another server. That server may be behind what we have seen, or may follow a leader that has
/// been deposed and does not know it. So the first request is one that a quorum must commit: answers come in order, so
/// whatever is read behind it is at least as new as everything we know.
///
/// Other requests wait for its answer. A follower that was asked for this session before, and was left before it had
/// the leader's consent, takes that consent for the present connection. Its question about the present connection may
/// then still be on its way to the leader, with our requests behind it. If we left for another server, the question
/// would bring the session back, and the leader would carry out requests that we have long repeated elsewhere. The
/// answer to the first request proves that the question has been received.
void OwnSessionKeeper::continue_session(Outbox& outbox) {
  // A server that we have left closes its connection when it is asked for something and learns that the session moved.
  for (const HandlePtr& left : leaving_) left->issue(refused_write("/"), left->next_request());
  send_background(refused_write("/"), nullptr, outbox);
  parts_.pipeline.hold_back();
  parts_.pipeline.set_watches_again(outbox);
}

void OwnSessionKeeper::lose_connection(Outbox& outbox) {
  monitor_.disconnected();
  parts_.pipeline.disconnect(outbox);
}

void OwnSessionKeeper::disconnected(Time now, Outbox& outbox) {
  lose_connection(outbox);
  if (const std::size_t too_large = parts_.pipeline.sizes().disconnected(); too_large != 0)
    log(LogSeverity::error, describe_too_large(too_large), outbox);
  give_up(std::exchange(handle_, nullptr));
  // A server that accepts us and drops us before it has answered anything has failed like one that refuses.
  try_next_server(now, answered_ ? std::chrono::milliseconds::zero() : pause_after_failure(), outbox);
}

void OwnSessionKeeper::auth_failed(Time now, Outbox& outbox) {
  if (!former_.empty()) return credentials_refused_after_move(now, outbox);
  if (++auth_failures_ >= kAuthAttempts) {
    fail(ErrorCode::not_authorized, "the server refused the credentials of this connection (check scheme and secret)",
         outbox);
    return end_handles();
  }
  log(LogSeverity::warning,
      "server " + address_ + " refused the credentials of this connection in attempt " +
          std::to_string(auth_failures_) + " of " + std::to_string(kAuthAttempts),
      outbox);
  lose_connection(outbox);
  give_up(std::exchange(handle_, nullptr));
  try_next_server(now, rotation_.session_lost(), outbox);
}

/// The server from which the session came has accepted them. A server reports the refusal only after it has taken the
/// session over.
void OwnSessionKeeper::credentials_refused_after_move(Time now, Outbox& outbox) {
  if (!std::exchange(warned_of_successor_, true))
    log(LogSeverity::warning,
        "server " + address_ + " is in the list but refused the credentials of this connection, which goes back to " +
            former_,
        outbox);
  move_not_before_ = now + kMoveAgain;
  lose_connection(outbox);
  give_up(std::exchange(handle_, nullptr));
  try_former_ = true;
  try_next_server(now, std::chrono::milliseconds::zero(), outbox);
}

void OwnSessionKeeper::answered(const Pending& /*pending*/, Time now, Outbox& /*outbox*/) {
  last_answer_ = now;
  auth_failures_ = 0;
  if (std::exchange(answered_, true)) return;
  parts_.pipeline.let_pass();
  rotation_.accepted();
  if (rotation_.contains(address_)) former_.clear();
}

void OwnSessionKeeper::send_light_heartbeat(bool anything_sent, Time /*now*/, Outbox& outbox) {
  if (!anything_sent) send_background({RequestKind::exists, "/"}, nullptr, outbox);
}

// ---- Servers ----

void OwnSessionKeeper::session_ended(Time now, Outbox& outbox) {
  session_key_.reset();
  former_.clear();
  end_handles();
  if (!is_closed()) try_next_server(now, rotation_.session_lost(), outbox);
}

void OwnSessionKeeper::try_next_server(Time now, std::chrono::milliseconds pause, Outbox& outbox) {
  attempt_at_ = now + pause;
  if (pause == std::chrono::milliseconds::zero())
    open_handle(now, outbox);
  else
    schedule_tick(attempt_at_);
}

void OwnSessionKeeper::open_handle(Time now, Outbox& outbox) {
  attempt_at_ = Time::max();
  if (is_closed() || handle_) return;
  attempt_at_ = now + kRetryAfterException;
  if (!successor_.handle) successor_ = start_attempt(now, outbox);
  handle_ = std::move(successor_.handle);
  if (handle_) {
    attempt_at_ = Time::max();
    address_ = std::move(successor_.address);
    attempt_began_ = successor_.began;
    attempt_until_ = successor_.until;
  } else {
    attempt_at_ = now + pause_after_failure();
  }
  successor_ = {};
  schedule_tick(std::min<Time>(attempt_at_, now + kConnectPoll));
}

OwnSessionKeeper::Attempt OwnSessionKeeper::start_attempt(Time now, Outbox& outbox) {
  request_addresses();
  if (rotation_.empty()) return {};
  const ConnectionOptions& options = parts_.options;
  Attempt attempt;
  // While there is a session, it may be continued where it was, too, as long as no listed server has answered.
  const bool again = session() && !is_connected() && !former_.empty() && std::exchange(try_former_, !try_former_);
  attempt.address = again ? former_ : rotation_.next();
  attempt.began = now;
  attempt.until = now + rotation_.patience(pace());
  try {
    attempt.handle = parts_.world.open_handle({attempt.address, session_key_, options.session_timeout,
                                               options.credentials, options.tls, c_client_sink(attempt.address)},
                                              listener_);
  } catch (const Error& error) {
    log(LogSeverity::error, error.what(), outbox);
  }
  return attempt;
}

/// Through the loop: the C client says it with locks of its own held, or on a thread that has ours.
std::function<void(const std::string&)> OwnSessionKeeper::c_client_sink(const std::string& address) {
  return [this, address, &loop = parts_.loop, guard = guard_](const std::string& text) {
    loop.post(guarded(guard, [this, address, text](Outbox&) {
      // The end of a connection to a server that we have left is no news.
      if (!is_connected() || address == address_) note_trouble(text, parts_.world.lease_now());
    }));
  };
}

std::chrono::milliseconds OwnSessionKeeper::pause_after_failure() {
  const auto pause = rotation_.failed(session() ? longest_pause(pace()) : std::chrono::milliseconds::max());
  if (rotation_.has_tried_all()) parts_.states.end_first_attempt();
  return pause;
}

void OwnSessionKeeper::set_servers(ServerList list, std::string text) {
  servers_ = std::move(text);
  if (hosts_ == list.hosts) return;  // repeated, perhaps faster than names are resolved
  hosts_ = std::move(list.hosts);
  ++list_;
  list_is_new_ = check_server_ = true;
  resolving_ = warned_of_successor_ = false;
  move_at_ = Time::max();
  move_not_before_ = {};
  if (!is_numeric(hosts_)) return request_addresses();
  std::string none;
  on_addresses(list_, parts_.world.resolve(hosts_, none), true);
}

/// Nothing waits for it: the session goes on where it is.
std::chrono::milliseconds OwnSessionKeeper::pause_before_move() {
  return rotation_.failed(std::chrono::milliseconds::max());
}

/// Names are resolved again whenever a server is needed: the servers may have moved. Attempts do not wait for it.
void OwnSessionKeeper::request_addresses() {
  if (resolving_ || is_numeric(hosts_)) return;
  look_up_at_ = parts_.world.lease_now() + kLookUpAgain;
  parts_.resolver.post([this, list = list_, hosts = hosts_, &world = parts_.world, guard = guard_] {
    std::string problem;
    const std::vector<std::string> addresses = world.resolve(hosts, problem);
    run_guarded(guard, [&](Outbox& outbox) {
      if (list == list_ && !problem.empty()) log_names(problem, outbox);
      on_addresses(list, addresses, problem.empty());
    });
  });
  resolving_ = true;
}

void OwnSessionKeeper::log_names(const std::string& problem, Outbox& outbox) {
  const Time now = parts_.world.lease_now();
  if (now < log_names_at_ || is_closed()) return;
  log_names_at_ = now + kLogAgain;
  log(LogSeverity::warning, "names of servers do not resolve: " + problem, outbox);
}

void OwnSessionKeeper::on_addresses(std::uint64_t list, const std::vector<std::string>& addresses, bool complete) {
  if (list != list_) return;
  resolving_ = false;
  if (addresses.empty()) parts_.states.end_first_attempt();
  if (is_closed() || addresses.empty()) return;
  const bool first = std::exchange(list_is_new_, false) || rotation_.empty();
  // A name that does not resolve for the moment says nothing about the server's address.
  if (first)
    rotation_.restart(addresses);
  else if (complete)
    rotation_.replace(addresses);
  else
    rotation_.add(addresses);
  const Time now = parts_.world.lease_now();
  const bool is_listed = rotation_.contains(address_);
  const bool wrong_attempt = is_connecting() && !is_listed && address_ != former_;
  if (wrong_attempt) give_up(std::exchange(handle_, nullptr));
  if (wrong_attempt || (!handle_ && first)) attempt_at_ = now;
  if (complete && std::exchange(check_server_, false) && is_connected() && !is_listed) move_from(address_, now);
  schedule_tick(now);
}

// ---- What time brings ----

void OwnSessionKeeper::tick_handles(Time now, Outbox& outbox) {
  // A process that was stopped has not listened, so it cannot say that the server was silent.
  if (now - std::exchange(last_tick_, now) > pace() / 8) awake_since_ = now;
  if (is_connecting() && (handle_->was_refused() || now >= attempt_until_)) {
    give_up(std::exchange(handle_, nullptr));
    try_next_server(now, pause_after_failure(), outbox);
  } else if (!handle_ && now >= attempt_at_) {
    open_handle(now, outbox);
  }
  for (auto left = leaving_.begin(); left != leaving_.end();) {
    if ((*left)->state() == SessionEvent::connected) {
      ++left;
      continue;
    }
    drop_later(std::move(*left));
    left = leaving_.erase(left);
  }
  tick_move(now, outbox);
  const auto silence = silent_since();
  if (silence && now >= *silence + silence_limit(pace())) leave_server(now, outbox);
}

/// The server is not in the list any more.
void OwnSessionKeeper::move_from(const std::string& server, Time now) {
  former_ = server;
  try_former_ = false;
  move_at_ = std::max(now, move_not_before_);
}

void OwnSessionKeeper::tick_move(Time now, Outbox& outbox) {
  if (check_server_ && !resolving_ && now >= look_up_at_) request_addresses();
  if (successor_.handle && (successor_.handle->was_refused() || now >= successor_.until)) {
    give_up(std::exchange(successor_, {}).handle);
    move_at_ = now + pause_before_move();
  }
  if (!is_connected() || successor_.handle || now < move_at_) return;
  move_at_ = now + kRetryAfterException;
  successor_ = start_attempt(now, outbox);
  if (!successor_.handle) move_at_ = now + pause_before_move();
}

SessionKeeper::Time OwnSessionKeeper::next_handle_tick(Time now) const {
  if (successor_.handle) return now + kConnectPoll;
  if (const auto silence = silent_since()) return std::min(*silence + silence_limit(pace()), move_at_);
  if (is_connected()) return move_at_;
  return handle_ ? now + kConnectPoll : attempt_at_;
}

/// Since when the server has owed us an answer; none if it does not, or if there is no other to go to. From a server
/// that is not in the list the session moves as soon as another one accepts it, silent or not.
std::optional<SessionKeeper::Time> OwnSessionKeeper::silent_since() const {
  if (!is_connected() || !rotation_.contains(address_) || !rotation_.has_other_than(address_)) return std::nullopt;
  const auto oldest = parts_.pipeline.oldest_unanswered();
  if (!oldest) return std::nullopt;
  return std::max({last_answer_, *oldest, awake_since_});
}

// ---- The life of handles ----

/// The handle stays connected until the C client notices the silence or the server notices that the session has moved.
/// Closing it before that could end the session.
void OwnSessionKeeper::leave_server(Time now, Outbox& outbox) {
  note_trouble("server " + address_ + " did not answer", now);
  leaving_.push_back(std::exchange(handle_, nullptr));
  lose_connection(outbox);
  parts_.pipeline.sizes().left();
  publish(now, outbox);
  try_next_server(now, std::chrono::milliseconds::zero(), outbox);
}

/// The old handle stays connected, as in leave_server(). What was in flight on it is in doubt, as after any disconnect:
/// the server that has the session now may have refused it.
void OwnSessionKeeper::take_over(Outbox& outbox) {
  if (handle_) {
    log(LogSeverity::info,
        "the session moves from server " + address_ + ", which is no longer in the list, to " + successor_.address,
        outbox);
    leaving_.push_back(std::exchange(handle_, nullptr));
    parts_.pipeline.disconnect(outbox);
    parts_.pipeline.sizes().left();
  }
  handle_ = std::move(successor_.handle);
  address_ = std::move(successor_.address);
  attempt_began_ = successor_.began;
  successor_ = {};
}

/// A server that does not know the session may belong to another ensemble. If the session really is over, the server
/// that we are connected to says so, too.
void OwnSessionKeeper::successor_failed(SessionEvent event, Time now, Outbox& outbox) {
  if (event != SessionEvent::disconnected && !std::exchange(warned_of_successor_, true))
    log(LogSeverity::warning,
        "server " + successor_.address + " is in the list but " +
            (event == SessionEvent::expired ? "does not know the session" : "refused the credentials") +
            " of this connection, which stays at " + address_,
        outbox);
  give_up(std::exchange(successor_, {}).handle);
  move_at_ = now + pause_before_move();
  schedule_tick(move_at_);
}

/// The handle is not connected.
void OwnSessionKeeper::give_up(HandlePtr handle) {
  handle->hand_session_over();
  drop_later(std::move(handle));
}

void OwnSessionKeeper::drop_later(HandlePtr handle) {
  parts_.dropper.post([this, guard = guard_, handle = std::move(handle)]() mutable {
    bool kept = false;
    run_guarded(guard, [&](Outbox&) { kept = keep_if_connected(handle); });
    if (!kept) handle->close();
  });
}

/// The C client reports a disconnect before its own state says so, and may even have connected again before the session
/// was handed over. The next report tells; until then closing the handle could end the session.
bool OwnSessionKeeper::keep_if_connected(HandlePtr& handle) {
  const bool ours = !is_closed() && session_key_ && session_key_->id == handle->session_id();
  if (!ours || handle->state() != SessionEvent::connected) return false;
  handle->hand_session_over();
  leaving_.push_back(std::move(handle));
  return true;
}

void OwnSessionKeeper::on_leaving_handle_event(std::uint32_t handle, SessionEvent event) {
  const auto found =
      std::find_if(leaving_.begin(), leaving_.end(), [&](const HandlePtr& one) { return one->number() == handle; });
  if (found == leaving_.end()) return;
  if (event == SessionEvent::connected) {
    (*found)->hand_session_over();  // the C client has written the key again
    return;
  }
  drop_later(std::move(*found));
  leaving_.erase(found);
}

/// The session is over. Handles that are still connected tell the server so.
void OwnSessionKeeper::end_handles() {
  attempt_until_ = Time::max();
  for (HandlePtr& handle : take_handles()) {
    Lane& lane = handle->state() == SessionEvent::connected ? parts_.ender : parts_.dropper;
    lane.post([handle = std::move(handle)] { handle->close(); });
  }
}

std::function<void()> OwnSessionKeeper::say_goodbye(bool unanswered) {
  // A socket that is closed with answers unread is reset, and then the server may never see the end of the session that
  // was sent before.
  if (!unanswered || !handle_) return [] {};
  return await_last_answers(*handle_);
}

std::vector<HandlePtr> OwnSessionKeeper::take_handles() {
  // The one that can tell the server at once comes first: the others may take seconds.
  std::vector<HandlePtr> handles;
  if (handle_) handles.push_back(std::exchange(handle_, nullptr));
  if (successor_.handle) handles.push_back(std::exchange(successor_, {}).handle);
  for (HandlePtr& left : std::exchange(leaving_, {})) handles.push_back(std::move(left));
  return handles;
}

}  // namespace zkrecipes::detail
