// SPDX-License-Identifier: Apache-2.0
#include "connection/request_pipeline.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "connection/backoff.h"

namespace zkrecipes::detail {

namespace {

// The C client closes the socket under a caller that has 65,536 requests unanswered; a server takes in far fewer.
constexpr std::size_t kMaxInFlight = 10'000;
// Watches are set again after a reconnect, and servers limit what one client may ask for.
constexpr std::size_t kMaxWatchBytes = 900'000;
// The disconnect that caused a connection loss may be reported after it; until then there is no point in trying again.
constexpr std::chrono::milliseconds kRetryPause{5};
constexpr int kMaxRefusals = 20;

bool is_unwatch(RequestKind kind) {
  return kind == RequestKind::unwatch_data || kind == RequestKind::unwatch_children;
}

}  // namespace

RequestPipeline::RequestPipeline(World& world, Lane& loop, const ConnectionOptions& options)
    : world_(world), loop_(loop), retry_(options.retry), lease_proof_(options.lease_proof) {}

bool RequestPipeline::proves_lease(RequestKind kind) const {
  switch (kind) {
    case RequestKind::create:
    case RequestKind::remove:
    case RequestKind::set:
      // A refused write counts like any other: the refusal is a transaction of its own, committed by a quorum.
      return true;
    case RequestKind::sync:
      return lease_proof_ == LeaseProof::leader;
    default:
      return false;
  }
}

// ---- Session and connection ----

void RequestPipeline::connected(const HandlePtr& handle) {
  handle_ = handle;
  ++connection_number_;
  held_back_ = false;
}

void RequestPipeline::disconnect(Outbox& outbox) {
  handle_ = nullptr;
  std::vector<Pending> lost = in_flight_.take_if([](const Pending&) { return true; });
  std::deque<Pending> again;
  for (Pending& pending : lost) {
    sizes_.lost(bytes(pending.request));
    if (pending.repeat)
      again.push_back(std::move(pending));
    else
      outbox.complete(std::move(pending.done), Status::connection_loss);
  }
  // Ahead of what was to be sent after them.
  waiting_.insert(waiting_.begin(), std::make_move_iterator(again.begin()), std::make_move_iterator(again.end()));
}

void RequestPipeline::end_session(const SessionPtr& ended, Outbox& outbox) {
  // Destroyed with the outbox, not under the lock: a handler may own what calls back here when it dies.
  outbox.add([dropped = watches_.clear()] {});
  for (Pending& pending : in_flight_.take_if([&](const Pending& one) { return one.session == ended; }))
    outbox.complete(std::move(pending.done), over_status());
  // Nothing of a session that has just begun can be waiting yet.
  for (Pending& pending : std::exchange(waiting_, {})) outbox.complete(std::move(pending.done), over_status());
  sizes_.forget();
  if (session_ != ended) return;
  session_ = nullptr;
  handle_ = nullptr;
}

// ---- Sending ----

void RequestPipeline::submit(Pending&& pending, Outbox& outbox) {
  if (closed_ || !pending.session || pending.session != session_)
    return outbox.complete(std::move(pending.done), over_status());
  const std::uint64_t wanted = pending.request.connection;
  if (wanted != 0 && (!handle_ || wanted != connection_number_))
    return outbox.complete(std::move(pending.done), Status::connection_loss);
  // Behind what waits already: requests of one caller must not overtake each other.
  if (!handle_ || held_back_ || in_flight_.size() >= kMaxInFlight || !waiting_.empty())
    waiting_.push_back(std::move(pending));
  else
    transmit(std::move(pending), outbox);
}

void RequestPipeline::submit_first(Pending&& pending, Outbox& outbox) {
  if (!handle_) return outbox.complete(std::move(pending.done), Status::connection_loss);
  transmit(std::move(pending), outbox);
}

void RequestPipeline::send_waiting(Outbox& outbox) {
  for (std::size_t left = waiting_.size(); left > 0; --left) {
    if (!handle_ || held_back_ || in_flight_.size() >= kMaxInFlight) return;
    Pending pending = std::move(waiting_.front());
    waiting_.pop_front();
    // It has waited while the connection that it was for may have been replaced.
    if (pending.request.connection != 0 && pending.request.connection != connection_number_)
      outbox.complete(std::move(pending.done), Status::connection_loss);
    else
      transmit(std::move(pending), outbox);
  }
}

void RequestPipeline::transmit(Pending&& pending, Outbox& outbox) {
  // One that had to be repeated would take away what somebody has begun to wait for meanwhile.
  if (watches_.is_wanted(pending.request)) return outbox.complete(std::move(pending.done), Status::ok);
  if (!sizes_.accepts(bytes(pending.request))) return refuse(std::move(pending), Status::too_large, outbox);
  const auto issue = [&](std::uint64_t number) { return handle_->issue(pending.request, number); };
  const Status status = dispatch(*handle_, pending, issue);
  if (status == Status::ok) return;
  if (status == Status::connection_loss && pending.repeat) {
    // The handle has just been disconnected; its event will bring another one or the end of the session.
    waiting_.push_back(std::move(pending));
  } else {
    // There is nothing to take off the server when the C client knows no such watch.
    const Status final_status = is_unwatch(pending.request.kind) ? Status::ok : status;
    refuse(std::move(pending), final_status, outbox);
  }
}

void RequestPipeline::refuse(Pending&& pending, Status status, Outbox& outbox) {
  if (pending.watch != 0) send_unwatch(watches_.answered(pending.watch, false), outbox);
  outbox.complete(std::move(pending.done), status);
}

bool RequestPipeline::issue(Handle& handle, Pending&& pending) {
  const std::uint64_t wanted = pending.request.connection;
  if (wanted != 0 && wanted != connection_number_) return false;
  const auto issue = [&](std::uint64_t number) { return handle.issue(pending.request, number); };
  return dispatch(handle, pending, issue) == Status::ok;
}

bool RequestPipeline::issue_listening(Handle& handle, Pending&& pending) {
  const auto listen = [&](std::uint64_t number) { return handle.listen_for_session_events(number); };
  return dispatch(handle, pending, listen) == Status::ok;
}

/// Takes `pending` over and keeps it until it is answered, if `issue` sends it; leaves it alone if not.
template <class Issue>
Status RequestPipeline::dispatch(Handle& handle, Pending& pending, const Issue& issue) {
  const std::uint64_t number = handle.next_request();
  pending.sent = world_.lease_now();
  pending.connection = connection_number_;
  const Status status = issue(number);
  if (status != Status::ok) return status;
  if (proves_lease(pending.request.kind)) last_proof_sent_ = pending.sent;
  in_flight_.add(number, std::move(pending));
  return status;
}

// ---- Answers ----

std::optional<Pending> RequestPipeline::take(std::uint64_t number, Reply& reply, bool answered) {
  std::optional<Pending> taken = in_flight_.take(number);
  if (!taken) return std::nullopt;
  reply.connection = taken->connection;
  if (answered)
    sizes_.answered(bytes(taken->request));
  else if (reply.status == Status::connection_loss)
    sizes_.lost(bytes(taken->request));
  return taken;
}

void RequestPipeline::complete(Pending&& pending, Reply&& reply, Outbox& outbox) {
  if (pending.session && pending.session != session_) reply.status = over_status();
  if (reply.status == Status::connection_loss && pending.repeat) {
    retry_later(std::move(pending));
  } else {
    if (pending.watch != 0)
      send_unwatch(watches_.answered(pending.watch, reply.status == Status::ok, reply.stat.mzxid), outbox);
    outbox.complete(std::move(pending.done), std::move(reply));
  }
  send_waiting(outbox);
}

/// A server that throttles refuses a request and leaves the connection up; each further attempt then adds to its load.
void RequestPipeline::retry_later(Pending&& pending) {
  std::chrono::milliseconds pause = kRetryPause;
  if (pending.refusals > 0) {
    Backoff backoff(retry_);
    for (int n = 0; n < pending.refusals; ++n) pause = backoff.next(world_.random());
    pending.refusals = std::min(pending.refusals + 1, kMaxRefusals);
  }
  const auto again = std::make_shared<Pending>(std::move(pending));
  loop_.post_at(world_.now() + pause, guarded(guard_, [this, again](Outbox& outbox) {
                  const bool still_up = handle_ && again->connection == connection_number_;
                  again->refusals = still_up ? std::max(again->refusals, 1) : 0;
                  submit(std::move(*again), outbox);
                }));
}

void RequestPipeline::fail_overdue(LeaseClock::time_point now, Outbox& outbox) {
  if (!session_) return;
  const auto patience = 2 * session_->timeout();
  for (Pending& pending : in_flight_.take_if([&](const Pending& one) { return now - one.sent > patience; })) {
    if (pending.repeat)
      submit(std::move(pending), outbox);
    else
      outbox.complete(std::move(pending.done), Status::connection_loss);
  }
}

std::optional<LeaseClock::time_point> RequestPipeline::oldest_unanswered() const {
  if (in_flight_.empty()) return std::nullopt;
  return in_flight_.front()->sent;
}

std::size_t RequestPipeline::in_flight() const {
  return in_flight_.count_if([](const Pending& pending) { return !pending.background; });
}

std::size_t RequestPipeline::waiting() const {
  return static_cast<std::size_t>(
      std::count_if(waiting_.begin(), waiting_.end(), [](const Pending& pending) { return !pending.background; }));
}

// ---- Watches ----

WatchTable::Id RequestPipeline::watch(WatchTable::Kind kind, const SessionPtr& session, std::string path,
                                      WatchHandler event, ReplyHandler done, Outbox& outbox) {
  if (watches_.bytes() > kMaxWatchBytes) {
    outbox.complete(std::move(done), Status::too_many_watches);
    return 0;
  }
  const RequestKind request = kind == WatchTable::Kind::data ? RequestKind::get : RequestKind::list;
  Pending pending(session, {request, std::move(path)}, std::move(done));
  pending.request.watch = true;
  pending.repeat = true;
  // The table is cleared with its session; a request of an older one must not enter it.
  WatchTable::Id id = 0;
  if (!closed_ && session && session == session_)
    id = pending.watch = watches_.add(kind, pending.request.path, std::move(event));
  submit(std::move(pending), outbox);
  return id;
}

void RequestPipeline::unwatch(WatchTable::Id id, Outbox& outbox) {
  send_unwatch(watches_.remove(id), outbox);
}

void RequestPipeline::send_unwatch(std::optional<Request> request, Outbox& outbox) {
  if (!request) return;
  Pending pending(session_, std::move(*request), nullptr);
  pending.repeat = true;
  submit(std::move(pending), outbox);
}

std::vector<WatchHandler> RequestPipeline::on_watch_event(const std::string& path, WatchEvent event) {
  return watches_.take(path, event);
}

void RequestPipeline::set_watches_again(Outbox& outbox) {
  WatchTable::Reconnected watches = watches_.reconnected();
  for (WatchTable::Rewatch& again : watches.again) transmit(rewatch(again.id, std::move(again.path)), outbox);
  for (WatchHandler& handler : watches.children)
    outbox.add([handler = std::move(handler)] { handler(WatchEvent::children_changed); });
}

Pending RequestPipeline::rewatch(WatchTable::Id id, std::string path) {
  Request request{RequestKind::get, path};
  request.watch = true;
  Pending pending(session_, std::move(request), [this, guard = guard_, id, path = std::move(path)](const Reply& reply) {
    run_guarded(guard, [&](Outbox& outbox) { rewatched(id, path, reply, outbox); });
  });
  pending.repeat = true;
  pending.background = true;
  return pending;
}

void RequestPipeline::rewatched(WatchTable::Id id, const std::string& path, const Reply& reply, Outbox& outbox) {
  if (reply.status == Status::ok && reply.connection != connection_number_ && session_) {
    // The connection on which the watch was set is over before its answer was taken in.
    return submit(rewatch(id, path), outbox);
  }
  WatchTable::Missed missed = watches_.rewatched(id, reply);
  send_unwatch(std::move(missed.unwatch), outbox);
  for (WatchHandler& handler : missed.handlers)
    outbox.add([handler = std::move(handler), event = missed.event] { handler(event); });
}

}  // namespace zkrecipes::detail
