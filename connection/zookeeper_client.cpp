// SPDX-License-Identifier: Apache-2.0
#include "connection/zookeeper_client.h"

#include <stdexcept>
#include <utility>

#include "connection/acl.h"
#include "connection/confirmed_set.h"
#include "connection/exact_remover.h"
#include "connection/node_remover.h"
#include "connection/own_session_keeper.h"
#include "connection/thread_role.h"
#include "zkrecipes/deadline.h"

namespace zkrecipes::detail {

namespace {
// How often a lease on a borrowed session is tried to be proved while it cannot be.
constexpr int kProofsPerTimeout = 20;
}  // namespace

ZookeeperClient::ZookeeperClient(ConnectionOptions options, ServerList servers, const BorrowHandle& borrow,
                                 std::shared_ptr<World> world)
    : world_(std::move(world)),
      options_(std::move(options)),
      events_(options_.observer ? std::make_shared<EventFeed>(options_.observer, log_) : nullptr),
      acl_(std::make_shared<const Acl>(options_.acl)),
      parent_acl_(std::make_shared<const Acl>(options_.parent_acl)),
      chroot_(std::move(servers.chroot)),
      borrowed_(borrow != nullptr),
      executor_(options_.executor ? std::make_shared<const Executor>(options_.executor) : nullptr),
      borrowed_nodes_(borrowed_),
      pipeline_(*world_, *loop_, options_),
      keeper_(make_keeper(std::move(servers.hosts), borrow)) {}

ZookeeperClient::~ZookeeperClient() {
  if (in_forked_child()) return;  // the lanes know what to do there
  for (Lane* lane : {loop_.get(), resolver_.get(), ender_.get(), dropper_.get(), closer_.get()})
    lane->stop(Lane::Rest::drop);
  for (CallbackLane* lane : {&callbacks_, &notices_, &state_lane_}) lane->stop(Lane::Rest::drop);
}

std::unique_ptr<SessionKeeper> ZookeeperClient::make_keeper(std::vector<HostPort> hosts, const BorrowHandle& borrow) {
  const ConnectionParts parts{*world_, options_,  log_,      *loop_,  *resolver_,
                              *ender_, *dropper_, pipeline_, states_, events_};
  if (borrow) {
    const auto removed = [this](const std::string& path) { report_leftover(path); };
    return std::make_unique<BorrowedSessionKeeper>(parts, borrow, *this, borrowed_nodes_, removed);
  }
  return std::make_unique<OwnSessionKeeper>(parts, std::move(hosts));
}

std::shared_ptr<ZookeeperClient> ZookeeperClient::connect(ConnectionOptions options, std::shared_ptr<World> world) {
  ServerList servers = parse_server_list(options.servers);
  std::shared_ptr<ZookeeperClient> client(
      new ZookeeperClient(std::move(options), std::move(servers), nullptr, std::move(world)));
  client->start();
  return client;
}

std::shared_ptr<ZookeeperClient> ZookeeperClient::borrow(const BorrowHandle& borrow, ConnectionOptions options,
                                                         std::shared_ptr<World> world) {
  std::shared_ptr<ZookeeperClient> client(new ZookeeperClient(std::move(options), {}, borrow, std::move(world)));
  client->start();
  return client;
}

void ZookeeperClient::start() {
  loop_->start();  // nothing works without it, so its failure is for the constructor to report
  MutexLock lock(mutex_);
  pipeline_.start(weak_from_this());
  keeper_->start(weak_from_this(), weak_from_this());
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
  const ConnectionState seen = states_.wait_until_decided(deadline_after(timeout));
  if (seen == ConnectionState::closed) std::rethrow_exception(closed_error());
  return seen == ConnectionState::connected;
}

Subscription ZookeeperClient::on_state_change(std::function<void(ConnectionState)> callback) {
  if (fork_guard_.in_child()) check_usable();
  return states_.subscribe(std::move(callback));
}

void ZookeeperClient::set_servers(std::string servers) {
  if (fork_guard_.in_child()) check_usable();
  if (borrowed_)
    throw std::logic_error(
        "zkrecipes: set_servers: this Connection uses a handle of the program, whose servers are the program's to set");
  ServerList list = parse_server_list(servers);
  const bool names_chroot = servers.find('/') != std::string::npos;
  if (names_chroot && list.chroot != chroot_)
    throw std::invalid_argument("zkrecipes: set_servers: the chroot of a Connection cannot change from \"" + chroot_ +
                                "\" to \"" + list.chroot + "\"; make another Connection");
  if (!names_chroot) servers += chroot_;
  MutexLock lock(mutex_);
  if (keeper_->is_closed()) std::rethrow_exception(keeper_->closed_error());
  keeper_->set_servers(std::move(list), std::move(servers));
}

void ZookeeperClient::close() noexcept {
  const bool in_callback = on_callback_thread();
  const bool in_library = !in_callback && ThreadRole::is_library();
  // The program may close a handle of its own as soon as this returns, so nothing may be left for another thread then.
  if (in_library && !borrowed_) return close_elsewhere();
  std::unique_lock<std::mutex> closing(close_mutex_, std::defer_lock);
  if (!in_callback && !in_library)
    closing.lock();
  else if (!closing.try_lock())
    return;  // the thread that is closing may be waiting for this very thread
  Outbox outbox;
  std::function<void()> wait_for_goodbye;
  {
    MutexLock lock(mutex_);
    begin_close(outbox);
    wait_for_goodbye = keeper_->say_goodbye(unanswered_at_close_);
  }
  outbox.run();
  wait_for_goodbye();
  std::vector<HandlePtr> handles;
  {
    MutexLock lock(mutex_);
    handles = keeper_->take_handles();
  }
  for (HandlePtr& handle : handles) {
    if (in_library)
      handle->close();  // another thread would wait for the call of the C client that this thread is inside of
    else
      ender_->post([handle = std::move(handle)] { handle->close(); });
  }
  handles.clear();
  resolver_->stop(Lane::Rest::abandon);  // a look-up may take as long as it likes
  ender_->stop(Lane::Rest::run);
  dropper_->stop(Lane::Rest::run);
  // Operations that waited for a pause to end see the close now, and every callback that follows from it has run before
  // this returns. The loop stays: locks that live on still get their answers from it.
  if (!loop_->on_this_thread()) loop_->drain();
  if (in_callback || in_library) {
    // A callback that waits for callbacks could wait for itself, and so could what a callback may be waiting for.
    for (CallbackLane* lane : {&callbacks_, &notices_, &state_lane_}) lane->finish_soon();
  } else {
    finish_callbacks();
  }
}

void ZookeeperClient::begin_close(Outbox& outbox) {
  unanswered_at_close_ = unanswered_at_close_ || pipeline_.awaits_answers();
  keeper_->close(outbox);
}

/// For a thread that the close has to wait for: the last owner of the connection was destroyed there. The connection is
/// closed at once; another thread waits for the rest, and owns what is left until then.
void ZookeeperClient::close_elsewhere() noexcept {
  Outbox outbox;
  {
    MutexLock lock(mutex_);
    begin_close(outbox);
  }
  closer_->post([self = shared_from_this()] {
    const ThreadRole role(ThreadRole::Role::program);
    self->close();
  });
  outbox.post_to(*loop_);
}

void ZookeeperClient::finish_callbacks() {
  // A callback of one lane may register one that runs on another.
  std::uint64_t before = 0;
  do {
    before = callbacks_posted();
    for (CallbackLane* lane : {&callbacks_, &notices_, &state_lane_}) lane->finish();
  } while (callbacks_posted() != before);
}

std::uint64_t ZookeeperClient::callbacks_posted() const {
  return callbacks_.posted() + notices_.posted() + state_lane_.posted();
}

bool ZookeeperClient::on_callback_thread() const noexcept {
  return callbacks_.on_this_thread() || notices_.on_this_thread() || state_lane_.on_this_thread();
}

// ---- Client: sessions ----

SessionPtr ZookeeperClient::current_session() const {
  if (fork_guard_.in_child()) return nullptr;  // the mutex may have been held at the moment of the fork
  MutexLock lock(mutex_);
  return keeper_->session();
}

AwaitId ZookeeperClient::await_session(SessionHandler done) {
  Outbox outbox;
  AwaitId id = 0;
  {
    MutexLock lock(mutex_);
    id = keeper_->await_session(std::move(done), outbox);
  }
  outbox.post_to(*loop_);
  return id;
}

AwaitId ZookeeperClient::await_disconnect(std::function<void()> done) {
  Outbox outbox;
  AwaitId id = 0;
  {
    MutexLock lock(mutex_);
    id = keeper_->await_disconnect(std::move(done), outbox);
  }
  outbox.post_to(*loop_);
  return id;
}

void ZookeeperClient::cancel_await(AwaitId id) {
  SessionHandler dropped;  // destroyed without the lock: it may own what calls back here
  MutexLock lock(mutex_);
  dropped = keeper_->cancel_await(id);
}

// ---- Client: requests ----

void ZookeeperClient::create(const SessionPtr& session, CreateSpec spec, CreateHandler done) {
  if (!spec.acl) spec.acl = acl_;
  if (!spec.parent_acl) spec.parent_acl = parent_acl_;
  if (borrowed_) done = remembering(session, spec, std::move(done));
  if (events_) spec.on_stale_removed = [this](const std::string& path) { report_leftover(path); };
  if (!chroot_.empty()) {
    spec.parent = full(spec.parent);
    if (spec.suspects != nullptr) spec.guarded = full(spec.guarded);
    done = [this, done = std::move(done)](Status status, CreatedNode node) {
      node.path = without_chroot(node.path);
      done(status, std::move(node));
    };
  }
  create_protected(*this, session, std::move(spec), std::move(done), chroot_node_);
}

ChrootPtr ZookeeperClient::make_chroot_node() const {
  if (chroot_.empty()) return nullptr;
  const auto made = [log = log_, path = chroot_] { log->info("the chroot " + path + " did not exist and was made"); };
  return std::make_shared<const Chroot>(Chroot{chroot_, options_.create_chroot, made});
}

/// `done`, and before it a note of what became of the node.
Client::CreateHandler ZookeeperClient::remembering(const SessionPtr& session, const CreateSpec& spec,
                                                   CreateHandler done) {
  {
    MutexLock lock(mutex_);
    if (!keeper_->is_closed() && session && session == keeper_->session()) borrowed_nodes_.begun(spec);
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
  remove_node(session, path, czxid, std::move(done), nullptr);
}

void ZookeeperClient::remove_leftover(const SessionPtr& session, const std::string& path, std::int64_t czxid) {
  remove_node(session, path, czxid, nullptr, [this, path = full(path)] { report_leftover(path); });
}

void ZookeeperClient::remove_node(const SessionPtr& session, const std::string& path, std::int64_t czxid,
                                  std::function<void(Status)> done, std::function<void()> removed) {
  if (czxid != 0)
    done = [session, path = full(path), czxid, done = std::move(done)](Status status) {
      if (status == Status::ok) session->claims().removed(path, czxid);
      if (done) done(status);
    };
  if (borrowed_)
    done = [this, path, czxid, done = std::move(done)](Status status) {
      if (status == Status::ok) borrowed_nodes_.removed(path, czxid);
      if (done) done(status);
    };
  remove_for_certain(*this, session, full(path), czxid, std::move(done), std::move(removed));
}

void ZookeeperClient::report_leftover(const std::string& full_path) const {
  if (!events_) return;
  events_->record(LeftoverRemoved{without_chroot(full_path)});
  events_->deliver();
}

void ZookeeperClient::remove_exactly(const SessionPtr& session, const std::string& path, std::int64_t czxid,
                                     std::int32_t version, std::function<void(Status)> done) {
  detail::remove_exactly(*this, session, full(path), czxid, version, std::move(done));
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

void ZookeeperClient::set_once(const SessionPtr& session, const std::string& path, std::string data,
                               std::int32_t version) {
  Request request{RequestKind::set, full(path), std::move(data)};
  request.version = version;
  send(session, std::move(request), [](const Reply&) {});
}

void ZookeeperClient::prove(const SessionPtr& session, const std::string& node, std::function<void(Status)> done) {
  if (borrowed_)
    done = [this, session, node, done = std::move(done)](Status status) {
      if (status != Status::ok || session->lease().covers(world_->lease_now())) return done(status);
      // Nothing is known yet of what the leader knew of the session before we came. The heartbeats find it out.
      run_after(session->shortest_timeout() / kProofsPerTimeout, [weak = weak_from_this(), session, node, done] {
        if (const auto self = weak.lock()) self->prove(session, node, done);
      });
    };
  if (options_.lease_proof == LeaseProof::leader) {
    send_until_answered(session, {RequestKind::sync, full(node)}, nullptr);
    return exists(session, node, [done = std::move(done)](const Reply& reply) { done(reply.status); });
  }
  send_until_answered(session, refused_write(full(node)), [done = std::move(done)](const Reply& reply) {
    // A client that may not write to the node is refused only if there is one.
    const bool there = reply.status == Status::bad_version || reply.status == Status::not_authorized;
    done(there ? Status::ok : reply.status);
  });
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
    MutexLock lock(mutex_);
    id = pipeline_.watch(kind, session, full(path), std::move(event), std::move(done), outbox);
  }
  outbox.post_to(*loop_);
  return id;
}

void ZookeeperClient::unwatch(WatchId watch) {
  Outbox outbox;
  {
    MutexLock lock(mutex_);
    pipeline_.unwatch(watch, outbox);
  }
  outbox.post_to(*loop_);
}

ProbeId ZookeeperClient::probe(const SessionPtr& session, const std::string& path, NodeRole role, std::int64_t czxid,
                               std::function<void()> gone) {
  MutexLock lock(mutex_);
  return keeper_->probe(session, full(path), role, czxid, std::move(gone));
}

void ZookeeperClient::unprobe(ProbeId probe) {
  std::function<void()> dropped;  // destroyed without the lock
  MutexLock lock(mutex_);
  dropped = keeper_->unprobe(probe);
}

// ---- Client: the rest ----

void ZookeeperClient::check_acl(const Acl& acl, const std::string& name) const {
  detail::check_acl(acl, name, borrowed_ || authenticates(options_));
}

void ZookeeperClient::check_usable() const {
  if (fork_guard_.in_child())
    throw Error(ErrorCode::forked,
                "this Connection belongs to the parent process; make a new one after fork(), in the child");
  if (state() == ConnectionState::closed) std::rethrow_exception(closed_error());
}

void ZookeeperClient::check_may_block() const {
  check_usable();
  if (borrowed_ && program_thread_.load() == std::this_thread::get_id())
    throw std::logic_error(
        "zkrecipes: a blocking call inside a callback of the program's own ZooKeeper handle would wait for itself: the "
        "answers come on this very thread; use the asynchronous call or another thread");
  if (on_callback_thread() || ThreadRole::is_library())
    throw std::logic_error(
        "zkrecipes: a blocking call inside a callback, or on another thread of the library, would hold up what it may "
        "wait for; use the asynchronous call or another thread");
}

std::exception_ptr ZookeeperClient::closed_error() const {
  MutexLock lock(mutex_);
  return keeper_->closed_error();
}

ZookeeperClient::Load ZookeeperClient::load() const {
  MutexLock lock(mutex_);
  return {pipeline_.open_requests(), pipeline_.open_watches(), keeper_->probes(), timers_.size()};
}

std::string ZookeeperClient::full(const std::string& path) const {
  if (chroot_.empty()) return path;
  return path == "/" ? chroot_ : chroot_ + path;
}

std::string ZookeeperClient::without_chroot(const std::string& path) const {
  if (path.size() <= chroot_.size()) return path.empty() ? path : "/";
  return path.substr(chroot_.size());
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

void ZookeeperClient::submit(Pending&& pending) {
  Outbox outbox;
  {
    MutexLock lock(mutex_);
    pipeline_.submit(std::move(pending), outbox);
  }
  outbox.post_to(*loop_);
}

void ZookeeperClient::run_after(std::chrono::milliseconds delay, std::function<void()> task) {
  loop_->post_at(world_->now() + delay, std::move(task));
}

// ---- HandleListener ----

/// What `work` has put into the outbox is due also when it throws after that.
template <class Locked>
void ZookeeperClient::run_locked(const Locked& work) {
  Outbox outbox;
  std::exception_ptr thrown;
  {
    MutexLock lock(mutex_);
    try {
      work(outbox);
    } catch (...) {
      thrown = std::current_exception();
    }
  }
  outbox.run();
  if (thrown) std::rethrow_exception(thrown);
}

void ZookeeperClient::on_reply(std::uint64_t request, Reply reply, bool answered) {
  note_program_thread();
  run_locked([&](Outbox& outbox) ZKR_REQUIRES(mutex_) {
    std::optional<Pending> pending = pipeline_.take(request, reply, answered);
    if (!pending) return;  // given up in the meantime
    keeper_->on_reply(*pending, reply.status, answered, world_->lease_now(), outbox);
    pipeline_.complete(std::move(*pending), std::move(reply), outbox);
  });
}

void ZookeeperClient::on_watch_event(std::uint32_t handle, const std::string& path, WatchEvent event) {
  note_program_thread();
  std::vector<WatchHandler> handlers;
  {
    MutexLock lock(mutex_);
    if (!keeper_->listens_to(handle)) return;
    handlers = pipeline_.on_watch_event(path, event);
  }
  for (WatchHandler& handler : handlers) call_guarded(*log_, "a watch", [&] { handler(event); });
}

void ZookeeperClient::on_session_event(std::uint32_t handle, SessionEvent event) {
  note_program_thread();
  run_locked([&](Outbox& outbox)
                 ZKR_REQUIRES(mutex_) { keeper_->on_session_event(handle, event, world_->lease_now(), outbox); });
}

void ZookeeperClient::note_program_thread() {
  if (borrowed_) program_thread_.store(std::this_thread::get_id());
}

// ---- Guard ----

void ZookeeperClient::run_guarded(const Work& work) {
  run_locked(work);
}

}  // namespace zkrecipes::detail
