// SPDX-License-Identifier: Apache-2.0
#include "connection/borrowed_session_keeper.h"

#include <utility>

namespace zkrecipes::detail {

namespace {
// How often a handle without a session is asked for its state.
constexpr std::chrono::milliseconds kPoll{50};
// How long a close waits until the nodes on the handle are gone.
constexpr std::chrono::seconds kReturnPatience{3};
}  // namespace

BorrowedSessionKeeper::BorrowedSessionKeeper(const ConnectionParts& parts, BorrowHandle borrow, RequestSender& sender,
                                             BorrowedNodes& nodes, LeftoverHandler leftover_removed)
    : SessionKeeper(parts),
      borrow_(std::move(borrow)),
      sender_(sender),
      nodes_(nodes),
      leftover_removed_(std::move(leftover_removed)) {}

void BorrowedSessionKeeper::begin(Time /*now*/) {
  handle_ = borrow_(listener_);
}

// ---- What the handle reports ----

void BorrowedSessionKeeper::on_session_event(std::uint32_t handle, SessionEvent event, Time now, Outbox& outbox) {
  if (!is_closed() && listens_to(handle)) apply(event, now, outbox);
}

void BorrowedSessionKeeper::apply(SessionEvent event, Time now, Outbox& outbox) {
  switch (event) {
    case SessionEvent::connected:
      monitor_.tick(now);
      if (!enter_session(handle_, connected_since(now), now)) break;
      session()->set_shared();
      last_session_ = session();
      break;
    case SessionEvent::disconnected:
      monitor_.disconnected();
      parts_.pipeline.suspend();
      parts_.pipeline.sizes().disconnected();
      break;
    case SessionEvent::expired:
      expired_ = true;
      if (session()) session()->note_expired();
      return fail(ErrorCode::connection_closed,
                  "the session of the program's own ZooKeeper handle has expired; make a new handle and a new "
                  "Connection",
                  outbox);
    case SessionEvent::auth_failed:
      return fail(ErrorCode::not_authorized,
                  "the server refused the credentials of this connection (check scheme and secret)", outbox);
  }
  publish(now, outbox);
  parts_.pipeline.send_waiting(outbox);
  schedule_tick(now);
}

/// When the handle was connected is not known, only a moment before that. After a reconnect it is that of the newest
/// request that was answered before. When we meet the session for the first time, or again after our lease on it has
/// run out, anything could have happened: the moment is so long ago that a lease which counts from it is over, so no
/// hold is granted before TouchHistory knows more.
SessionKeeper::Time BorrowedSessionKeeper::connected_since(Time now) const {
  return session() ? newest_touch() : now - 2 * handle_->session_timeout();
}

void BorrowedSessionKeeper::note_state(Time now, Outbox& outbox) {
  const SessionEvent seen = handle_->state();
  if (seen == SessionEvent::connected) {
    // The C client reports a lost connection before its own state says so, so "connected" may be old news. An answer is
    // not: those of the lost connection came before the report.
    if (!is_connected()) listen(nullptr);
  } else if (seen != SessionEvent::disconnected || is_connected()) {
    apply(seen, now, outbox);
  }
}

/// A read of "/", which also keeps session events coming.
void BorrowedSessionKeeper::listen(SessionPtr session) {
  Pending question(std::move(session), {RequestKind::exists, "/"}, nullptr);
  question.background = true;
  parts_.pipeline.issue_listening(*handle_, std::move(question));
}

void BorrowedSessionKeeper::answered(const Pending& pending, Time now, Outbox& outbox) {
  const bool proof = !pending.session;  // see note_state()
  if (proof && handle_ && !is_closed() && !is_connected()) apply(SessionEvent::connected, now, outbox);
}

void BorrowedSessionKeeper::not_answered(Status status, Time now, Outbox& outbox) {
  if (status == Status::connection_loss && handle_ && !is_closed()) note_state(now, outbox);
}

void BorrowedSessionKeeper::send_light_heartbeat(bool /*anything_sent*/, Time /*now*/, Outbox& /*outbox*/) {
  listen(session());
}

void BorrowedSessionKeeper::tick_handles(Time now, Outbox& outbox) {
  if (!is_closed()) note_state(now, outbox);
}

SessionKeeper::Time BorrowedSessionKeeper::next_handle_tick(Time now) const {
  return is_connected() ? Time::max() : now + kPoll;
}

/// Only the program can make another session.
std::string BorrowedSessionKeeper::lost_line() const {
  return "no server has confirmed the session of the program's own handle in time, so its holds are lost";
}

// ---- What we leave behind ----

void BorrowedSessionKeeper::session_connected(Outbox& outbox) {
  if (session() == leftovers_removed_in_) return;
  leftovers_removed_in_ = session();
  outbox.add([&sender = sender_, keep_alive = listener_.lock(), session = session(), leftovers = nodes_.take(),
              removed = leftover_removed_] { remove_leftovers(sender, session, leftovers, removed, [keep_alive] {}); });
}

void BorrowedSessionKeeper::closing() {
  unwatch_on_return_ = parts_.pipeline.unwatch_all();
}

std::function<void()> BorrowedSessionKeeper::say_goodbye(bool unanswered) {
  BorrowedNodes::Leftovers leftovers = nodes_.take();
  if (!handle_) return [] {};
  // A watch that is still being set cannot be taken off the handle.
  std::function<void()> wait = unanswered ? await_last_answers(*handle_) : [] {};
  if (leftovers.empty() || expired_) return wait;  // the server removes the nodes of an expired session
  if (handle_->state() != SessionEvent::connected || !last_session_) {
    const std::size_t left = leftovers.nodes.size() + leftovers.in_doubt.size();
    return [wait = std::move(wait), left, log = parts_.log] {
      log->error("the connection was closed while its handle is disconnected; " + std::to_string(left) +
                 " lock node(s) may stay until the handle's session ends");
      wait();
    };
  }
  return [this, wait = std::move(wait), leftovers = std::move(leftovers), session = last_session_] {
    wait();
    const auto latch = parts_.world.make_latch();
    remove_leftovers(last_words_, session, leftovers, nullptr, [latch] { latch->set(); });
    if (!latch->wait_for(kReturnPatience))
      parts_.log->error("the server did not confirm in time that the lock nodes on the program's handle are gone");
  };
}

std::vector<HandlePtr> BorrowedSessionKeeper::take_handles() {
  if (!handle_) return {};
  for (const Request& request : std::exchange(unwatch_on_return_, {})) handle_->issue(request, handle_->next_request());
  return {std::exchange(handle_, nullptr)};
}

void BorrowedSessionKeeper::LastWords::send(const SessionPtr& /*session*/, Request request, ReplyHandler done) {
  // Belongs to no session, since ours is over.
  Pending pending(nullptr, std::move(request), std::move(done));
  pending.background = true;
  run_guarded(keeper_.guard_, [&](Outbox& outbox) {
    if (!keeper_.handle_) return outbox.complete(std::move(pending.done), Status::closed);
    const bool connected = keeper_.handle_->state() == SessionEvent::connected;
    if (connected && keeper_.parts_.pipeline.issue(*keeper_.handle_, std::move(pending))) return;
    // NOLINTNEXTLINE(bugprone-use-after-move): issue() has not taken it.
    outbox.complete(std::move(pending.done), Status::connection_loss);
  });
}

void BorrowedSessionKeeper::LastWords::send_until_answered(const SessionPtr& session, Request request,
                                                           ReplyHandler done) {
  send(session, std::move(request), std::move(done));
}

void BorrowedSessionKeeper::LastWords::run_after(std::chrono::milliseconds delay, std::function<void()> task) {
  keeper_.parts_.loop.post_at(keeper_.parts_.world.now() + delay, std::move(task));
}

}  // namespace zkrecipes::detail
