// SPDX-License-Identifier: Apache-2.0
#include "connection/zookeeper_client.h"

#include <algorithm>
#include <glog/logging.h>
#include <utility>

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
// The disconnect that caused a connection loss is reported after it; until then there is no point in trying again.
constexpr std::chrono::milliseconds kRetryPause{5};

}  // namespace

ZookeeperClient::ZookeeperClient(ConnectionOptions options, ServerList servers, bool borrowed)
    : options_(std::move(options)),
      servers_(std::move(servers)),
      borrowed_nodes_(borrowed),
      monitor_(options_.validity_margin),
      reconnect_backoff_(options_.retry),
      no_session_since_(Clock::now()) {}

std::shared_ptr<ZookeeperClient> ZookeeperClient::connect(ConnectionOptions options) {
  ServerList servers = parse_server_list(options.servers);
  std::shared_ptr<ZookeeperClient> client(new ZookeeperClient(std::move(options), std::move(servers), false));
  client->loop_.post([client] {
    client->open_handle();
    client->tick(Clock::time_point::max());
  });
  return client;
}

std::shared_ptr<ZookeeperClient> ZookeeperClient::borrow(zhandle_t* existing, ConnectionOptions options) {
  std::shared_ptr<ZookeeperClient> client(new ZookeeperClient(std::move(options), {}, true));
  client->handle_ = ZookeeperHandle::borrow(existing, client->options_.acl, client);
  client->loop_.post([client] { client->tick(Clock::time_point::max()); });
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
  std::unique_ptr<ZookeeperHandle> handle;
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
    handle = std::move(handle_);
  }
  handle.reset();
  resolver_.stop(TaskThread::Rest::abandon);  // a look-up may take as long as it likes
  closer_.stop(TaskThread::Rest::run);
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
  do {
    callbacks_.finish();
    notices_.finish();
  } while (callbacks_.has_thread());
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

void ZookeeperClient::await_session(SessionHandler done) {
  Outbox outbox;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (closed_)
      outbox.add([done = std::move(done)] { done(Status::closed, nullptr); });
    else if (monitor_.session())
      outbox.add([done = std::move(done), session = monitor_.session()] { done(Status::ok, session); });
    else
      awaiting_session_.push_back(std::move(done));
  }
  outbox.post_to(loop_);
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
      borrowed_nodes_.created(spec, node.path);
    else if (status != Status::session_over && status != Status::closed)
      borrowed_nodes_.not_created(spec);
    done(status, std::move(node));
  };
}

void ZookeeperClient::remove(const SessionPtr& session, const std::string& path, const std::string& guid_in_data,
                             std::function<void(Status)> done) {
  if (borrowed_nodes_.remembers())
    done = [this, path, guid_in_data, done = std::move(done)](Status status) {
      if (status == Status::ok) borrowed_nodes_.removed(path, guid_in_data);
      if (done) done(status);
    };
  remove_for_certain(*this, session, full(path), guid_in_data, std::move(done));
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

ProbeId ZookeeperClient::probe(const SessionPtr& session, const std::string& path, std::int64_t czxid,
                               std::function<void()> gone) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_ || !session || session != monitor_.session()) return 0;  // over: its holds are told so
  return heartbeat_.add(full(path), std::move(gone), czxid);
}

void ZookeeperClient::unprobe(ProbeId probe) {
  std::lock_guard<std::mutex> lock(mutex_);
  heartbeat_.remove(probe);
}

// ---- Client: the rest ----

void ZookeeperClient::run_at(Clock::time_point time, std::function<void()> task) {
  loop_.post_at(time, std::move(task));
}

void ZookeeperClient::check_usable() const {
  if (fork_guard_.in_child())
    throw Error(ErrorCode::forked,
                "this Connection belongs to the parent process; make a new one after fork(), in the child");
  if (state_.load() == ConnectionState::closed) std::rethrow_exception(closed_error());
}

void ZookeeperClient::check_may_block() const {
  check_usable();
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
  // Behind what waits already: requests of one caller must not overtake each other.
  const bool must_wait = monitor_.state() != ConnectionState::connected || in_flight_.size() >= kMaxInFlight ||
                         !parked_.empty() || !handle_;
  if (must_wait)
    parked_.push_back(std::move(pending));
  else
    transmit(std::move(pending), outbox);
}

void ZookeeperClient::transmit(Pending&& pending, Outbox& outbox) {
  // One that had to be repeated would take away what somebody has begun to wait for meanwhile.
  if (watches_.is_wanted(pending.request)) return outbox.complete(std::move(pending.done), Status::ok);
  const std::uint64_t number = handle_->next_request();
  pending.sent = Clock::now();
  Status status = handle_->issue(pending.request, number);
  if (status == Status::ok) {
    in_flight_.add(number, std::move(pending));
    return;
  }
  if (status == Status::connection_loss && pending.repeat) {
    // The handle has just died; its event will bring a new session or the end of this one.
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

// ---- HandleListener ----

void ZookeeperClient::on_reply(std::uint64_t request, Reply reply, bool proves_session) {
  const auto now = Clock::now();
  Outbox outbox;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    auto taken = in_flight_.take(request);
    if (!taken) return;  // given up on meanwhile
    Pending& pending = *taken;
    if (proves_session && pending.session && !pending.session->lease().acknowledge(pending.sent, now)) {
      // The answer came after the lease had run out: the end of the session is only now being noticed.
      monitor_.tick(now);
      publish(outbox);
    }
    if (handle_ && handle_->borrowed() && !closed_) {
      if (reply.status == Status::connection_loss) note_borrowed_state(outbox, now);
      const bool proof = proves_session && !pending.session;  // see ask_for_proof()
      if (proof && monitor_.state() != ConnectionState::connected) apply(SessionEvent::connected, now, outbox);
    }

    if (pending.session && pending.session != monitor_.session())
      reply.status = closed_ ? Status::closed : Status::session_over;

    if (reply.status == Status::connection_loss && pending.repeat) {
      loop_.post_at(now + kRetryPause,
                    [self = shared_from_this(), again = std::make_shared<Pending>(std::move(pending))] {
                      self->submit(std::move(*again));
                    });
    } else {
      if (pending.watch != 0) send_unwatch(watches_.answered(pending.watch, reply.status == Status::ok), outbox);
      outbox.complete(std::move(pending.done), std::move(reply));
    }
    send_parked(outbox);
  }
  outbox.run();
}

void ZookeeperClient::on_watch_event(std::uint32_t handle, const std::string& path, WatchEvent event) {
  std::vector<WatchHandler> handlers;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!handle_ || handle_->number() != handle) return;
    handlers = watches_.take(path, event);
  }
  for (WatchHandler& handler : handlers) handler(event);
}

void ZookeeperClient::on_session_event(std::uint32_t handle, SessionEvent event) {
  Outbox outbox;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (closed_ || !handle_ || handle_->number() != handle) return;
    apply(event, Clock::now(), outbox);
  }
  outbox.run();
}

}  // namespace zkrecipes::connection
