// SPDX-License-Identifier: Apache-2.0
#include "connection/zookeeper_client.h"

#include <algorithm>
#include <glog/logging.h>
#include <utility>

#include "connection/backoff.h"
#include "connection/confirmed_set.h"
#include "connection/node_path.h"
#include "connection/node_remover.h"
#include "connection/protected_create.h"
#include "zkrecipes/deadline.h"

namespace zkrecipes::connection {

namespace {

// The C client closes the socket under a caller that has 65,536 requests unanswered; a server takes in far fewer.
constexpr std::size_t kMaxInFlight = 10'000;
// All watches are set again in one packet after a reconnect, and a server refuses packets over 1 MiB by default.
constexpr std::size_t kMaxWatchBytes = 900'000;
// The disconnect that caused a connection loss may be reported after it; until then there is no point in trying again.
constexpr std::chrono::milliseconds kRetryPause{5};
// What the server's default jute.maxbuffer accepts, less what the C client adds to a request.
constexpr std::size_t kMaxRequestBytes = 1'000'000;
// A request is suspected of causing disconnects only if it is larger than this, and larger than any that was answered.
constexpr std::size_t kSuspectBytes = 4'096;
constexpr int kSuspectDisconnects = 5;

}  // namespace

ZookeeperClient::ZookeeperClient(ConnectionOptions options, ServerList servers, bool borrowed)
    : options_(std::move(options)),
      servers_(std::move(servers)),
      borrowed_nodes_(borrowed),
      monitor_(options_.validity_margin),
      rotation_(options_.retry),
      no_session_since_(LeaseClock::now()),
      size_limit_(kMaxRequestBytes) {}

std::shared_ptr<ZookeeperClient> ZookeeperClient::connect(ConnectionOptions options) {
  ServerList servers = parse_server_list(options.servers);
  std::shared_ptr<ZookeeperClient> client(new ZookeeperClient(std::move(options), std::move(servers), false));
  if (is_numeric(client->servers_.hosts)) {
    std::string none;
    client->rotation_.replace(resolve(client->servers_.hosts, none));
  }
  client->attempt_at_ = LeaseClock::now();
  client->loop_.post([client] { client->tick(Time::max()); });
  return client;
}

std::shared_ptr<ZookeeperClient> ZookeeperClient::borrow(zhandle_t* existing, ConnectionOptions options) {
  std::shared_ptr<ZookeeperClient> client(new ZookeeperClient(std::move(options), {}, true));
  client->handle_ = ZookeeperHandle::borrow(existing, client->options_.acl, client);
  client->loop_.post([client] { client->tick(Time::max()); });
  return client;
}

// ---- For Connection ----

std::int64_t ZookeeperClient::session_id() const noexcept {
  const SessionPtr session = current_session();
  return session ? session->id() : 0;
}

std::chrono::milliseconds ZookeeperClient::session_timeout() const noexcept {
  const SessionPtr session = current_session();
  return session ? session->timeout() : options_.session_timeout;
}

bool ZookeeperClient::wait_until_connected(std::chrono::milliseconds timeout) {
  if (timeout < std::chrono::milliseconds::zero())
    throw std::invalid_argument("zkrecipes: wait_until_connected: the timeout is negative");
  check_may_block();
  const auto decided = [this] {
    const ConnectionState state = state_.load();
    return state == ConnectionState::connected || state == ConnectionState::closed;
  };
  const auto deadline = deadline_after(timeout);
  boost::unique_lock<boost::mutex> lock(wait_mutex_);
  if (deadline == Clock::time_point::max()) {
    wait_changed_.wait(lock, decided);
  } else {
    // Both clocks are the system's monotonic one.
    const boost::chrono::nanoseconds since_epoch(
        std::chrono::duration_cast<std::chrono::nanoseconds>(deadline.time_since_epoch()).count());
    wait_changed_.wait_until(lock, boost::chrono::steady_clock::time_point(since_epoch), decided);
  }
  lock.unlock();  // the reason is guarded by the other mutex, which comes first
  if (state_.load() == ConnectionState::closed) std::rethrow_exception(closed_error());
  return state_.load() == ConnectionState::connected;
}

Subscription ZookeeperClient::on_state_change(std::function<void(ConnectionState)> callback) {
  if (fork_guard_.in_child()) check_usable();
  std::uint64_t known = 0;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    known = state_number_;
  }
  return state_changed_.connect([callback = std::move(callback), known](ConnectionState state, std::uint64_t number) {
    if (number <= known) return;  // entered before the call and only now reported
    call_guarded("a callback of on_state_change", [&] { callback(state); });
  });
}

void ZookeeperClient::close() noexcept {
  const bool in_callback = on_callback_thread();
  std::unique_lock<std::mutex> closing(close_mutex_, std::defer_lock);
  if (!in_callback)
    closing.lock();
  else if (!closing.try_lock())
    return;  // whoever is closing may be waiting for this very callback
  Outbox outbox;
  std::vector<HandlePtr> handles;
  bool unanswered = false;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    unanswered = !in_flight_.empty();
    close_for_good(ErrorCode::connection_closed, "the connection was closed", outbox);
  }
  outbox.run();
  if (unanswered) await_last_answers();
  remove_borrowed_nodes();
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (handle_) {
      for (const Request& request : std::exchange(unwatch_on_return_, {}))
        handle_->issue(request, handle_->next_request());
      handles.push_back(std::exchange(handle_, nullptr));
    }
    // Behind the one that can tell the server at once: these may take seconds.
    for (HandlePtr& left : std::exchange(leaving_, {})) handles.push_back(std::move(left));
  }
  for (const HandlePtr& handle : handles) ender_.post([handle] { handle->close(); });
  handles.clear();
  resolver_.stop(TaskThread::Rest::abandon);  // a look-up may take as long as it likes
  ender_.stop(TaskThread::Rest::run);
  dropper_.stop(TaskThread::Rest::run);
  // What waited for a pause to end sees the close now, and every callback that follows from it has run before this
  // returns. The loop stays: locks that live on still get their answers from it.
  loop_.drain();
  if (in_callback) {
    // A callback that waits for callbacks could wait for itself.
    callbacks_.finish_soon();
    notices_.finish_soon();
    return;
  }
  // A callback of one thread may register one that runs on the other.
  const auto posted = [this] { return callbacks_.posted() + notices_.posted(); };
  std::uint64_t before = 0;
  do {
    before = posted();
    callbacks_.finish();
    notices_.finish();
  } while (posted() != before);
}

bool ZookeeperClient::on_callback_thread() const noexcept {
  return callbacks_.on_this_thread() || notices_.on_this_thread();
}

// ---- Client: sessions ----

SessionPtr ZookeeperClient::current_session() const {
  if (fork_guard_.in_child()) return nullptr;  // the mutex may have been held at the moment of the fork
  std::lock_guard<std::mutex> lock(mutex_);
  return monitor_.session();
}

AwaitId ZookeeperClient::await_session(SessionHandler done) {
  Outbox outbox;
  AwaitId id = 0;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (closed_) {
      outbox.add([done = std::move(done)] { done(Status::closed, nullptr); });
    } else if (monitor_.session() && monitor_.state() == ConnectionState::connected) {
      outbox.add([done = std::move(done), session = monitor_.session()] { done(Status::ok, session); });
    } else {
      id = next_await_++;
      awaiting_session_.emplace(id, std::move(done));
    }
  }
  outbox.post_to(loop_);
  return id;
}

void ZookeeperClient::cancel_await(AwaitId id) {
  SessionHandler dropped;  // destroyed without the lock: it may own what calls back here
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = awaiting_session_.find(id);
  if (found == awaiting_session_.end()) return;
  dropped = std::move(found->second);
  awaiting_session_.erase(found);
}

// ---- Client: requests ----

void ZookeeperClient::create(const SessionPtr& session, CreateSpec spec, CreateHandler done) {
  if (borrowed_nodes_.remembers()) done = remembering(session, spec, std::move(done));
  if (!servers_.chroot.empty()) {
    spec.parent = full(spec.parent);
    done = [this, done = std::move(done)](Status status, CreatedNode node) {
      node.path = without_chroot(node.path);
      done(status, std::move(node));
    };
  }
  create_protected(*this, session, std::move(spec), std::move(done));
}

/// `done`, and before it a note of what became of the node.
Client::CreateHandler ZookeeperClient::remembering(const SessionPtr& session, const CreateSpec& spec,
                                                   CreateHandler done) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!closed_ && session && session == monitor_.session()) borrowed_nodes_.begun(spec);
  }
  return [this, spec, done = std::move(done)](Status status, CreatedNode node) {
    if (status == Status::ok)
      borrowed_nodes_.created(spec, node);
    else if (status != Status::session_over && status != Status::closed)
      borrowed_nodes_.not_created(spec);
    done(status, std::move(node));
  };
}

void ZookeeperClient::remove(const SessionPtr& session, const std::string& path, std::int64_t czxid,
                             std::function<void(Status)> done) {
  if (borrowed_nodes_.remembers())
    done = [this, path, czxid, done = std::move(done)](Status status) {
      if (status == Status::ok) borrowed_nodes_.removed(path, czxid);
      if (done) done(status);
    };
  remove_for_certain(*this, session, full(path), czxid, std::move(done));
}

void ZookeeperClient::exists(const SessionPtr& session, const std::string& path, ReplyHandler done) {
  send_until_answered(session, {RequestKind::exists, full(path)}, std::move(done));
}

void ZookeeperClient::get(const SessionPtr& session, const std::string& path, ReplyHandler done) {
  send_until_answered(session, {RequestKind::get, full(path)}, std::move(done));
}

void ZookeeperClient::list(const SessionPtr& session, const std::string& path, ReplyHandler done) {
  send_until_answered(session, {RequestKind::list, full(path)}, std::move(done));
}

void ZookeeperClient::sync(const SessionPtr& session, const std::string& path, ReplyHandler done) {
  send_until_answered(session, {RequestKind::sync, full(path)}, std::move(done));
}

void ZookeeperClient::set(const SessionPtr& session, const std::string& path, std::string data, std::int32_t version,
                          ReplyHandler done) {
  set_confirmed(*this, session, full(path), std::move(data), version, std::move(done));
}

// ---- Client: watches and probes ----

WatchId ZookeeperClient::watch_node(const SessionPtr& session, const std::string& path, WatchHandler event,
                                    ReplyHandler done) {
  return watch(WatchTable::Kind::data, session, path, std::move(event), std::move(done));
}

WatchId ZookeeperClient::watch_children(const SessionPtr& session, const std::string& path, WatchHandler event,
                                        ReplyHandler done) {
  return watch(WatchTable::Kind::children, session, path, std::move(event), std::move(done));
}

WatchId ZookeeperClient::watch(WatchTable::Kind kind, const SessionPtr& session, const std::string& path,
                               WatchHandler event, ReplyHandler done) {
  Outbox outbox;
  WatchId id = 0;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (watches_.bytes() > kMaxWatchBytes) {
      outbox.complete(std::move(done), Status::too_many_watches);
    } else {
      const RequestKind request = kind == WatchTable::Kind::data ? RequestKind::get : RequestKind::list;
      Pending pending(session, {request, full(path)}, std::move(done));
      pending.request.watch = true;
      pending.repeat = true;
      // The table is cleared with its session; a request of an older one must not enter it.
      if (!closed_ && session && session == monitor_.session())
        id = pending.watch = watches_.add(kind, pending.request.path, std::move(event));
      submit_locked(std::move(pending), outbox);
    }
  }
  outbox.post_to(loop_);
  return id;
}

void ZookeeperClient::unwatch(WatchId watch) {
  Outbox outbox;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    send_unwatch(watches_.remove(watch), outbox);
  }
  outbox.post_to(loop_);
}

ProbeId ZookeeperClient::probe(const SessionPtr& session, const std::string& path, NodeRole role, std::int64_t czxid,
                               std::function<void()> gone) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_ || !session || session != monitor_.session()) return 0;  // over: its holds are told so
  const ProbeId id = heartbeat_.add(full(path), role, czxid, std::move(gone));
  monitor_.set_relied_on(heartbeat_.holds() > 0);
  return id;
}

void ZookeeperClient::unprobe(ProbeId probe) {
  std::function<void()> dropped;  // destroyed without the lock
  std::lock_guard<std::mutex> lock(mutex_);
  dropped = heartbeat_.take(probe);
  monitor_.set_relied_on(heartbeat_.holds() > 0);
}

void ZookeeperClient::prove(const SessionPtr& session, const std::string& node, std::function<void(Status)> done) {
  if (options_.lease_proof == LeaseProof::leader) {
    send_until_answered(session, {RequestKind::sync, full(node)}, nullptr);
    return exists(session, node, [done = std::move(done)](const Reply& reply) { done(reply.status); });
  }
  Request request{RequestKind::set, full(node)};
  request.version = HeartbeatPlan::kImpossibleVersion;
  send_until_answered(session, std::move(request), [done = std::move(done)](const Reply& reply) {
    // Who may not write to the node is refused only if there is one.
    const bool there = reply.status == Status::bad_version || reply.status == Status::not_authorized;
    done(there ? Status::ok : reply.status);
  });
}

// ---- Client: the rest ----

void ZookeeperClient::check_usable() const {
  if (fork_guard_.in_child())
    throw Error(ErrorCode::forked,
                "this Connection belongs to the parent process; make a new one after fork(), in the child");
  if (state_.load() == ConnectionState::closed) std::rethrow_exception(closed_error());
}

void ZookeeperClient::check_may_block() const {
  check_usable();
  if (borrowed_nodes_.remembers() && program_thread_.load() == std::this_thread::get_id())
    throw std::logic_error(
        "zkrecipes: a blocking call inside a callback of the program's own ZooKeeper handle would wait for itself: the "
        "answers come on this very thread; use the asynchronous call or another thread");
  if (on_callback_thread())
    throw std::logic_error(
        "zkrecipes: a blocking call inside a callback would hold up the callbacks it may wait for; use the "
        "asynchronous call or "
        "another thread");
}

std::exception_ptr ZookeeperClient::closed_error() const {
  std::lock_guard<std::mutex> lock(mutex_);
  if (close_code_ == ErrorCode::not_authorized) return std::make_exception_ptr(NotAuthorized(close_reason_));
  return std::make_exception_ptr(ConnectionClosed(close_reason_));
}

ZookeeperClient::Load ZookeeperClient::load() const {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto open = [](const Pending& pending) { return !pending.background; };
  const auto waiting = static_cast<std::size_t>(std::count_if(parked_.begin(), parked_.end(), open));
  return {in_flight_.count_if(open) + waiting, watches_.size(), heartbeat_.size()};
}

std::string ZookeeperClient::full(const std::string& path) const {
  if (servers_.chroot.empty()) return path;
  return path == "/" ? servers_.chroot : servers_.chroot + path;
}

std::string ZookeeperClient::without_chroot(const std::string& path) const {
  if (path.size() <= servers_.chroot.size()) return path.empty() ? path : "/";
  return path.substr(servers_.chroot.size());
}

// ---- RequestSender ----

void ZookeeperClient::send(const SessionPtr& session, Request request, ReplyHandler done) {
  submit({session, std::move(request), std::move(done)});
}

void ZookeeperClient::send_until_answered(const SessionPtr& session, Request request, ReplyHandler done) {
  Pending pending(session, std::move(request), std::move(done));
  pending.repeat = true;
  submit(std::move(pending));
}

void ZookeeperClient::run_after(std::chrono::milliseconds delay, std::function<void()> task) {
  loop_.post_at(Clock::now() + delay, std::move(task));
}

void ZookeeperClient::submit(Pending&& pending) {
  Outbox outbox;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    submit_locked(std::move(pending), outbox);
  }
  outbox.post_to(loop_);
}

void ZookeeperClient::submit_locked(Pending&& pending, Outbox& outbox) {
  if (closed_) return outbox.complete(std::move(pending.done), Status::closed);
  if (!pending.session || pending.session != monitor_.session())
    return outbox.complete(std::move(pending.done), Status::session_over);
  const bool connected = monitor_.state() == ConnectionState::connected && handle_;
  const std::uint64_t wanted = pending.request.connection;
  if (wanted != 0 && (!connected || wanted != connection_number_))
    return outbox.complete(std::move(pending.done), Status::connection_loss);
  // Behind what waits already: requests of one caller must not overtake each other.
  if (!connected || in_flight_.size() >= kMaxInFlight || !parked_.empty())
    parked_.push_back(std::move(pending));
  else
    transmit(std::move(pending), outbox);
}

void ZookeeperClient::transmit(Pending&& pending, Outbox& outbox) {
  // One that had to be repeated would take away what somebody has begun to wait for meanwhile.
  if (watches_.is_wanted(pending.request)) return outbox.complete(std::move(pending.done), Status::ok);
  const std::uint64_t wanted = pending.request.connection;
  if (wanted != 0 && wanted != connection_number_)
    return outbox.complete(std::move(pending.done), Status::connection_loss);
  if (bytes(pending.request) > size_limit_) {
    if (pending.watch != 0) send_unwatch(watches_.answered(pending.watch, false), outbox);
    return outbox.complete(std::move(pending.done), Status::too_large);
  }
  const std::uint64_t number = handle_->next_request();
  pending.sent = LeaseClock::now();
  pending.connection = connection_number_;
  Status status = handle_->issue(pending.request, number);
  if (status == Status::ok) {
    if (proves_lease(pending.request.kind)) last_proof_sent_ = pending.sent;
    in_flight_.add(number, std::move(pending));
    return;
  }
  if (status == Status::connection_loss && pending.repeat) {
    // The handle has just been disconnected; its event will bring another one or the end of the session.
    parked_.push_back(std::move(pending));
    return;
  }
  if (pending.request.kind == RequestKind::unwatch_data || pending.request.kind == RequestKind::unwatch_children)
    status = Status::ok;
  if (pending.watch != 0) send_unwatch(watches_.answered(pending.watch, false), outbox);
  outbox.complete(std::move(pending.done), status);
}

void ZookeeperClient::send_parked(Outbox& outbox) {
  for (std::size_t left = parked_.size(); left > 0; --left) {
    if (monitor_.state() != ConnectionState::connected || in_flight_.size() >= kMaxInFlight || !handle_) return;
    Pending pending = std::move(parked_.front());
    parked_.pop_front();
    transmit(std::move(pending), outbox);
  }
}

void ZookeeperClient::send_unwatch(std::optional<Request> request, Outbox& outbox) {
  if (!request) return;
  Pending pending(monitor_.session(), std::move(*request), nullptr);
  pending.repeat = true;
  submit_locked(std::move(pending), outbox);
}

/// `pending` has failed a moment ago.
void ZookeeperClient::retry(Pending&& pending) {
  Outbox outbox;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const bool still_up =
        !closed_ && monitor_.state() == ConnectionState::connected && pending.connection == connection_number_;
    if (still_up && pending.refusals == 0) {
      // The server refuses it without closing the connection (it throttles): do not add to its load.
      pending.refusals = 1;
    }
    if (!still_up) pending.refusals = 0;
    submit_locked(std::move(pending), outbox);
  }
  outbox.post_to(loop_);
}

// ---- HandleListener ----

/// Whether the answer to such a request renews the lease of the holds. A refused write counts like any other: the
/// refusal is a transaction of its own, committed by a quorum.
bool ZookeeperClient::proves_lease(RequestKind kind) const {
  switch (kind) {
    case RequestKind::create:
    case RequestKind::remove:
    case RequestKind::set:
      return true;
    case RequestKind::sync:
      return options_.lease_proof == LeaseProof::leader;
    default:
      return false;
  }
}

void ZookeeperClient::on_reply(std::uint64_t request, Reply reply, bool answered) {
  if (borrowed_nodes_.remembers()) program_thread_.store(std::this_thread::get_id());
  const auto now = LeaseClock::now();
  Outbox outbox;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    auto taken = in_flight_.take(request);
    if (!taken) return;  // given up on meanwhile
    Pending& pending = *taken;
    reply.connection = pending.connection;
    if (answered) {
      last_answer_ = now;
      auth_failures_ = 0;
      if (!std::exchange(answered_, true)) rotation_.accepted();
      const std::size_t size = bytes(pending.request);
      if (size > largest_accepted_) {
        largest_accepted_ = size;
        large_losses_ = 0;
      }
      if (pending.session) {
        bool alive = pending.session->contact().renew(pending.sent, now, true);
        if (proves_lease(pending.request.kind))
          alive = pending.session->lease().renew(pending.sent, now, monitor_.relied_on()) && alive;
        if (!alive) {
          // The answer came after the lease had run out: the end of the session is only now being noticed.
          monitor_.tick(now);
          publish(outbox);
        }
      }
    } else if (reply.status == Status::connection_loss) {
      note_lost(pending);
    }
    if (handle_ && handle_->borrowed() && !closed_) {
      if (reply.status == Status::connection_loss) note_borrowed_state(outbox, now);
      const bool proof = answered && !pending.session;  // see ask_for_proof()
      if (proof && monitor_.state() != ConnectionState::connected) apply(SessionEvent::connected, now, outbox);
    }

    if (pending.session && pending.session != monitor_.session())
      reply.status = closed_ ? Status::closed : Status::session_over;

    if (reply.status == Status::connection_loss && pending.repeat) {
      std::chrono::milliseconds pause = kRetryPause;
      if (pending.refusals > 0) {
        Backoff backoff(options_.retry);
        for (int n = 0; n < pending.refusals; ++n) pause = backoff.next();
        pending.refusals = std::min(pending.refusals + 1, 20);
      }
      loop_.post_at(Clock::now() + pause,
                    [self = shared_from_this(), again = std::make_shared<Pending>(std::move(pending))] {
                      self->retry(std::move(*again));
                    });
    } else {
      if (pending.watch != 0)
        send_unwatch(watches_.answered(pending.watch, reply.status == Status::ok, reply.stat.mzxid), outbox);
      outbox.complete(std::move(pending.done), std::move(reply));
    }
    send_parked(outbox);
  }
  outbox.run();
}

void ZookeeperClient::on_watch_event(std::uint32_t handle, const std::string& path, WatchEvent event) {
  if (borrowed_nodes_.remembers()) program_thread_.store(std::this_thread::get_id());
  std::vector<WatchHandler> handlers;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!handle_ || handle_->number() != handle) return;
    handlers = watches_.take(path, event);
  }
  for (WatchHandler& handler : handlers) handler(event);
}

void ZookeeperClient::on_session_event(std::uint32_t handle, SessionEvent event) {
  if (borrowed_nodes_.remembers()) program_thread_.store(std::this_thread::get_id());
  Outbox outbox;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (closed_) return;
    if (handle_ && handle_->number() == handle)
      apply(event, LeaseClock::now(), outbox);
    else
      on_leaving_handle_event(handle, event);
  }
  outbox.run();
}

// ---- Requests that the server does not take ----

void ZookeeperClient::note_lost(const Pending& pending) {
  largest_lost_ = std::max(largest_lost_, bytes(pending.request));
}

/// A server closes the connection on a request above its jute.maxbuffer, without an answer. Sending it again for ever
/// would cost the session and all other holds.
void ZookeeperClient::note_disconnect() {
  const std::size_t suspect = std::exchange(largest_lost_, 0);
  if (suspect <= std::max(largest_accepted_, kSuspectBytes)) {
    large_losses_ = 0;
    return;
  }
  if (++large_losses_ < kSuspectDisconnects) return;
  LOG(ERROR) << "zkrecipes: the connection was lost " << large_losses_ << " times in a row while a request of "
             << suspect << " bytes was under way, and no request of that size was ever answered; it is not sent again. "
             << "Raise the server's jute.maxbuffer, or use shorter paths and a shorter identity";
  size_limit_ = suspect - 1;
  large_losses_ = 0;
}

/// A new session may find servers with other limits.
void ZookeeperClient::forget_sizes() {
  size_limit_ = kMaxRequestBytes;
  largest_accepted_ = largest_lost_ = 0;
  large_losses_ = 0;
}

}  // namespace zkrecipes::connection
