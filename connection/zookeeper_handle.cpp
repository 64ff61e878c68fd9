// SPDX-License-Identifier: Apache-2.0
#include "connection/zookeeper_handle.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/container/small_vector.hpp>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <pthread.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <unordered_map>
#include <utility>
#include <zookeeper/zookeeper.h>

#include "connection/c_client_log.h"
#include "connection/fork_guard.h"
#include "connection/guarded_call.h"
#include "connection/mutex.h"
#include "connection/thread_role.h"
#include "connection/zookeeper_errors.h"

#ifndef ZKRECIPES_HAS_TLS
#define ZKRECIPES_HAS_TLS 0
#endif

namespace zkrecipes::detail {

namespace {

// A request number has the number of its handle in its upper bits.
constexpr int kHandleShift = 40;
constexpr std::uint32_t kMaxHandle = (1U << (64 - kHandleShift)) - 1;

// ---- Callbacks of the C client find their handle by number ----

/// Counts the calls that are running.
class RunningCalls {
 public:
  void begin() {
    MutexLock lock(mutex_);
    running_.push_back(std::this_thread::get_id());
  }
  void end() {
    {
      MutexLock lock(mutex_);
      running_.erase(std::find(running_.begin(), running_.end(), std::this_thread::get_id()));
    }
    ended_.notify_all();
  }
  /// Does not wait for a call that this thread is inside of.
  void wait_for_others() {
    const auto is_another = [self = std::this_thread::get_id()](std::thread::id id) { return id != self; };
    MutexLock lock(mutex_);
    while (std::any_of(running_.begin(), running_.end(), is_another)) ended_.wait(lock);
  }

 private:
  Mutex mutex_;
  Condition ended_;
  boost::container::small_vector<std::thread::id, 2> running_ ZKR_GUARDED_BY(mutex_);
};

class ListenerRegistry {
 public:
  /// `drop_waits`: for calls that are running then.
  std::uint32_t add(const std::weak_ptr<HandleListener>& listener, bool drop_waits) {
    WriterLock lock(mutex_);
    do {
      next_ = next_ % kMaxHandle + 1;
    } while (listeners_.count(next_) != 0);
    listeners_.emplace(next_, Entry{listener, drop_waits ? std::make_shared<RunningCalls>() : nullptr});
    return next_;
  }
  void drop(std::uint32_t number) {
    std::shared_ptr<RunningCalls> calls;
    {
      WriterLock lock(mutex_);
      const auto found = listeners_.find(number);
      if (found == listeners_.end()) return;
      calls = std::move(found->second.calls);
      listeners_.erase(found);
    }
    if (calls) calls->wait_for_others();
  }
  /// Does nothing if the listener was dropped.
  template <class Function>
  void call(std::uint32_t number, const Function& function) {
    const ThreadRole role(ThreadRole::Role::library);
    std::shared_ptr<RunningCalls> calls;
    std::shared_ptr<HandleListener> listener;
    {
      ReaderLock lock(mutex_);
      const auto found = listeners_.find(number);
      if (found == listeners_.end()) return;
      listener = found->second.listener.lock();
      if (!listener) return;
      calls = found->second.calls;
      if (calls) calls->begin();
    }
    // The C client cannot pass an exception on.
    call_guarded(process_log(), "a callback of the C client", [&] { function(*listener); });
    if (calls) calls->end();
  }

 private:
  struct Entry {
    std::weak_ptr<HandleListener> listener;
    std::shared_ptr<RunningCalls> calls;  // null: nobody waits for them
  };
  SharedMutex mutex_;
  std::uint32_t next_ ZKR_GUARDED_BY(mutex_) = 0;
  std::unordered_map<std::uint32_t, Entry> listeners_ ZKR_GUARDED_BY(mutex_);
};

/// Never destroyed: a borrowed handle may call back while the program exits. The child of a fork gets one of its own,
/// because the parent's mutex may have been locked at the moment of the fork; the parent's handles mean nothing there.
ListenerRegistry& registry() {
  struct Instance {
    ForkGuard process;
    ListenerRegistry listeners;
  };
  static std::atomic<Instance*> current{new Instance};
  Instance* known = current.load();
  if (known->process.in_child()) {
    auto* const own = new Instance;
    if (current.compare_exchange_strong(known, own))
      known = own;
    else
      delete own;  // another thread was faster
  }
  return known->listeners;
}

struct Visitor {
  std::mutex& gate;
  pid_t id = 0;  // read after the thread was joined
};

void* visit(void* argument) {
  auto& visitor = *static_cast<Visitor*>(argument);
  visitor.id = static_cast<pid_t>(::syscall(SYS_gettid));
  const std::lock_guard<std::mutex> passing(visitor.gate);
  return nullptr;
}

/// 0, or why the system has no threads to give for one more handle. The C client makes two of them, and its assertion
/// ends the process where it cannot.
int look_for_threads() {
  std::mutex gate;
  std::array<Visitor, 2> visitors{Visitor{gate}, Visitor{gate}};
  std::array<pthread_t, visitors.size()> threads{};
  std::size_t count = 0;
  int error = 0;
  {
    const std::lock_guard<std::mutex> closed(gate);  // until there are two at the same time
    while (count < threads.size() && (error = pthread_create(&threads[count], nullptr, &visit, &visitors[count])) == 0)
      ++count;
  }
  for (std::size_t n = 0; n < count; ++n) {
    pthread_join(threads[n], nullptr);
    // It counts until the system, too, has forgotten it.
    while (::syscall(SYS_tgkill, ::getpid(), visitors[n].id, 0) == 0) std::this_thread::yield();
  }
  return error;
}

/// Held while a handle is made. The C client then calls getaddrinfo(), which locks a mutex of the C library that is not
/// made usable again in the child of a fork, where every look-up would hang. So a fork waits for the moment that making
/// a handle takes.
std::mutex& making_handle() {
  static auto* const mutex = [] {
    auto* const made = new std::mutex;
    pthread_atfork([] { making_handle().lock(); }, [] { making_handle().unlock(); }, [] { making_handle().unlock(); });
    return made;
  }();
  return *mutex;
}

static_assert(sizeof(void*) >= sizeof(std::uint64_t), "request numbers travel in the C client's context pointers");
void* as_context(std::uint64_t number) {
  return reinterpret_cast<void*>(number);
}
std::uint64_t as_number(const void* context) {
  return reinterpret_cast<std::uint64_t>(context);
}

// ---- Translations ----

NodeStat node_stat(const Stat* stat) {
  if (stat == nullptr) return {};
  NodeStat result;
  result.czxid = stat->czxid;
  result.mzxid = stat->mzxid;
  result.ephemeral_owner = stat->ephemeralOwner;
  result.created_ms = stat->ctime;
  result.version = stat->version;
  result.children = stat->numChildren;
  result.data_length = stat->dataLength;
  return result;
}

int create_mode(CreateMode mode) {
  switch (mode) {
    case CreateMode::persistent:
      return ZOO_PERSISTENT;
    case CreateMode::container:
      return ZOO_CONTAINER;
    case CreateMode::ephemeral:
      return ZOO_EPHEMERAL;
    case CreateMode::ephemeral_sequential:
      return ZOO_EPHEMERAL_SEQUENTIAL;
  }
  return ZOO_PERSISTENT;
}

SessionEvent session_event(int state) {
  if (state == ZOO_CONNECTED_STATE) return SessionEvent::connected;
  if (state == ZOO_EXPIRED_SESSION_STATE) return SessionEvent::expired;
  if (state == ZOO_AUTH_FAILED_STATE) return SessionEvent::auth_failed;
  return SessionEvent::disconnected;
}

void report(int rc, Reply reply, const void* context) {
  const std::uint64_t request = as_number(context);
  reply.status = status_of(rc);
  registry().call(static_cast<std::uint32_t>(request >> kHandleShift),
                  [&](HandleListener& listener) { listener.on_reply(request, std::move(reply), is_answer(rc)); });
}

// ---- What the C client calls ----

extern "C" {

void zkrecipes_void_done(int rc, const void* context) {
  report(rc, {}, context);
}

void zkrecipes_stat_done(int rc, const Stat* stat, const void* context) {
  Reply reply;
  reply.stat = node_stat(stat);
  report(rc, std::move(reply), context);
}

void zkrecipes_create_done(int rc, const char* path, const Stat* stat, const void* context) {
  Reply reply;
  if (path != nullptr) reply.path = path;
  reply.stat = node_stat(stat);
  report(rc, std::move(reply), context);
}

void zkrecipes_get_done(int rc, const char* value, int length, const Stat* stat, const void* context) {
  Reply reply;
  if (value != nullptr && length > 0) reply.data.assign(value, static_cast<std::size_t>(length));
  reply.stat = node_stat(stat);
  report(rc, std::move(reply), context);
}

void zkrecipes_list_done(int rc, const String_vector* names, const Stat* stat, const void* context) {
  Reply reply;
  if (names != nullptr) reply.children = NameList(names->data, names->count);
  reply.stat = node_stat(stat);
  report(rc, std::move(reply), context);
}

void zkrecipes_sync_done(int rc, const char* /*path*/, const void* context) {
  report(rc, {}, context);
}

void zkrecipes_session_watcher(zhandle_t* /*handle*/, int type, int state, const char* /*path*/, void* context) {
  if (type != ZOO_SESSION_EVENT) return;
  const auto number = static_cast<std::uint32_t>(as_number(context));
  registry().call(number, [&](HandleListener& listener) { listener.on_session_event(number, session_event(state)); });
}

void zkrecipes_node_watcher(zhandle_t* /*handle*/, int type, int /*state*/, const char* path, void* context) {
  WatchEvent event = WatchEvent::unwatched;
  if (type == ZOO_CREATED_EVENT)
    event = WatchEvent::created;
  else if (type == ZOO_DELETED_EVENT)
    event = WatchEvent::deleted;
  else if (type == ZOO_CHANGED_EVENT)
    event = WatchEvent::changed;
  else if (type == ZOO_CHILD_EVENT)
    event = WatchEvent::children_changed;
  else
    return;  // session events are reported once, by the session watcher
  const auto number = static_cast<std::uint32_t>(as_number(context));
  registry().call(number, [&](HandleListener& listener) { listener.on_watch_event(number, path, event); });
}

}  // extern "C"

/// An Acl in the form that the C client takes. Refers to the strings of `source`.
class AclTable {
 public:
  explicit AclTable(const Acl& source) {
    for (const Acl::Entry& entry : source.entries())
      entries_.push_back(
          {entry.permissions, {const_cast<char*>(entry.scheme.c_str()), const_cast<char*>(entry.id.c_str())}});
    table_ = {static_cast<std::int32_t>(entries_.size()), entries_.data()};
  }
  AclTable(const AclTable&) = delete;
  AclTable& operator=(const AclTable&) = delete;
  const ACL_vector* get() const { return &table_; }

 private:
  boost::container::small_vector<ACL, 2> entries_;
  ACL_vector table_{};
};

/// Owns one zhandle_t (or borrows the program's), and translates between the C client's terms and ours. The C client
/// is given numbers instead of pointers, so that whatever it calls too late finds nobody rather than freed memory.
class ZookeeperHandle final : public Handle {
 public:
  ZookeeperHandle(std::uint32_t number, bool borrowed, CClientLog::Sink log)
      : number_(number), borrowed_(borrowed), log_(std::move(log)) {}
  ~ZookeeperHandle() override { close_handle(); }
  ZookeeperHandle(const ZookeeperHandle&) = delete;
  ZookeeperHandle& operator=(const ZookeeperHandle&) = delete;

  /// Throws Error.
  void open(const HandleSettings& settings);
  void borrow(zhandle_t* existing) { handle_ = existing; }

  std::uint32_t number() const noexcept override { return number_; }
  bool borrowed() const noexcept override { return borrowed_; }
  std::uint64_t next_request() noexcept override;
  Status issue(const Request& request, std::uint64_t number) override;
  SessionEvent state() const override;
  bool was_refused() const override;
  std::int64_t session_id() const override;
  std::chrono::milliseconds session_timeout() const override;
  SessionKey hand_session_over() override;
  Status listen_for_session_events(std::uint64_t number) override;
  void close() noexcept override { close_handle(); }

 private:
  Status issue_create(const Request& request, const void* context);
  Status issue_unwatch(const Request& request, const void* context);
  void close_handle() noexcept;

  const std::uint32_t number_;
  const bool borrowed_;
  const CClientLog log_;
  zhandle_t* handle_ = nullptr;  // null once closed
  std::int64_t session_id_ = 0;  // once it was handed over
  std::uint64_t last_request_ = 0;
};

void ZookeeperHandle::open(const HandleSettings& settings) {
  const int timeout = static_cast<int>(settings.session_timeout.count());
  void* const context = as_context(number_);
  clientid_t key{};
  if (settings.session) {
    static_assert(sizeof key.passwd == sizeof settings.session->password, "the C client's password has 16 bytes");
    key.client_id = settings.session->id;
    std::copy(settings.session->password.begin(), settings.session->password.end(), key.passwd);
  }
  const clientid_t* const session = settings.session ? &key : nullptr;
  const auto refuse = [&settings](int error) {
    throw Error(ErrorCode::rejected, std::string("the ZooKeeper C client could not make a handle for ") +
                                         settings.address + ": " + std::strerror(error));
  };
  if (const int error = look_for_threads()) refuse(error);
  std::unique_lock<std::mutex> making(making_handle());
#if ZKRECIPES_HAS_TLS
  if (settings.tls) {
    const TlsOptions& tls = *settings.tls;
    const std::string files = tls.ca_file + "," + tls.certificate_file + "," + tls.key_file + "," + tls.key_password;
    handle_ = zookeeper_init_ssl(settings.address.c_str(), files.c_str(), &zkrecipes_session_watcher, timeout, session,
                                 context, ZOO_NO_LOG_CLIENTENV);
    if (handle_ != nullptr) zoo_set_log_callback(handle_, log_.callback());
  }
#endif
  if (!settings.tls)
    handle_ = zookeeper_init2(settings.address.c_str(), &zkrecipes_session_watcher, timeout, session, context,
                              ZOO_NO_LOG_CLIENTENV, log_.callback());
  if (handle_ != nullptr) {
    // Before it is connected, or the C client would send them twice.
    for (const Credential& credential : settings.credentials)
      zoo_add_auth(handle_, credential.scheme.c_str(), credential.secret.data(),
                   static_cast<int>(credential.secret.size()), nullptr, nullptr);
    // The C client's own thread looks its address up, too, before it connects. After that there is no need to: the
    // address is numeric, and looking it up again in every loop would only cost time. The call waits for a look-up that
    // has begun.
    const auto patience = Clock::now() + std::chrono::milliseconds(100);
    while (zoo_state(handle_) == ZOO_NOTCONNECTED_STATE && Clock::now() < patience) std::this_thread::yield();
    zoo_set_servers_resolution_delay(handle_, -1);
  }
  making.unlock();
  if (handle_ == nullptr) refuse(errno);
}

std::uint64_t ZookeeperHandle::next_request() noexcept {
  return (static_cast<std::uint64_t>(number_) << kHandleShift) | ++last_request_;
}

Status ZookeeperHandle::issue(const Request& request, std::uint64_t number) {
  const char* const path = request.path.c_str();
  void* const context = as_context(number);
  void* const watch_context = as_context(number_);
  const watcher_fn watcher = request.watch ? &zkrecipes_node_watcher : nullptr;
  switch (request.kind) {
    case RequestKind::create:
      return issue_create(request, context);
    case RequestKind::remove:
      return status_of(zoo_adelete(handle_, path, request.version, &zkrecipes_void_done, context));
    case RequestKind::exists:
      return status_of(zoo_awexists(handle_, path, watcher, watch_context, &zkrecipes_stat_done, context));
    case RequestKind::get:
      return status_of(zoo_awget(handle_, path, watcher, watch_context, &zkrecipes_get_done, context));
    case RequestKind::set:
      return status_of(zoo_aset(handle_, path, request.data.data(), static_cast<int>(request.data.size()),
                                request.version, &zkrecipes_stat_done, context));
    case RequestKind::list:
      return status_of(zoo_awget_children2(handle_, path, watcher, watch_context, &zkrecipes_list_done, context));
    case RequestKind::sync:
      return status_of(zoo_async(handle_, path, &zkrecipes_sync_done, context));
    case RequestKind::unwatch_data:
    case RequestKind::unwatch_children:
      return issue_unwatch(request, context);
  }
  return Status::invalid;
}

Status ZookeeperHandle::issue_create(const Request& request, const void* context) {
  const auto create = [&](const ACL_vector* acl) {
    return status_of(zoo_acreate2(handle_, request.path.c_str(), request.data.data(),
                                  static_cast<int>(request.data.size()), acl, create_mode(request.mode),
                                  &zkrecipes_create_done, context));
  };
  if (!request.acl) return create(&ZOO_OPEN_ACL_UNSAFE);
  const AclTable table(*request.acl);  // the C client copies it into its packet
  return create(table.get());
}

Status ZookeeperHandle::issue_unwatch(const Request& request, const void* context) {
  const ZooWatcherType type = request.kind == RequestKind::unwatch_data ? ZWATCHTYPE_DATA : ZWATCHTYPE_CHILD;
  // The parameter is declared as a pointer to a function pointer but is used as the function itself.
  auto* const done = reinterpret_cast<void_completion_t*>(&zkrecipes_void_done);
  // Taking away one watcher leaves the watch at the server; taking away all of a path would, on the program's handle,
  // also take the program's.
  const int rc = borrowed_ ? zoo_aremove_watches(handle_, request.path.c_str(), type, &zkrecipes_node_watcher,
                                                 as_context(number_), 0, done, context)
                           : zoo_aremove_all_watches(handle_, request.path.c_str(), type, 0, done, context);
  if (rc == ZNOWATCHER) return Status::no_node;  // no reply will come: nothing to remove
  return status_of(rc);
}

SessionEvent ZookeeperHandle::state() const {
  return session_event(zoo_state(handle_));
}

bool ZookeeperHandle::was_refused() const {
  // Between two attempts the C client's state has this value, for which its header has no name.
  constexpr int kNoAttempt = 0;
  return zoo_state(handle_) == kNoAttempt;
}

std::int64_t ZookeeperHandle::session_id() const {
  return session_id_ != 0 ? session_id_ : zoo_client_id(handle_)->client_id;
}

SessionKey ZookeeperHandle::hand_session_over() {
  // The C client shows its own copy of the key, which it uses only to connect again. No server makes this session id.
  constexpr std::int64_t kNoSession = 1;
  auto* const key = const_cast<clientid_t*>(zoo_client_id(handle_));
  SessionKey result;
  result.id = std::exchange(key->client_id, kNoSession);
  if (session_id_ == 0) session_id_ = result.id;
  std::copy(std::begin(key->passwd), std::end(key->passwd), result.password.begin());
  std::fill(std::begin(key->passwd), std::end(key->passwd), '\0');
  return result;
}

std::chrono::milliseconds ZookeeperHandle::session_timeout() const {
  return std::chrono::milliseconds(zoo_recv_timeout(handle_));
}

Status ZookeeperHandle::listen_for_session_events(std::uint64_t number) {
  return status_of(zoo_awexists(handle_, "/", &zkrecipes_session_watcher, as_context(number_), &zkrecipes_stat_done,
                                as_context(number)));
}

void ZookeeperHandle::close_handle() noexcept {
  registry().drop(number_);
  if (handle_ == nullptr) return;
  zhandle_t* const handle = std::exchange(handle_, nullptr);
  if (!borrowed_) {
    zookeeper_close(handle);
    return;
  }
  // Nobody waits for the answer; its number leads nowhere.
  if (session_event(zoo_state(handle)) == SessionEvent::connected)
    zoo_aremove_watches(handle, "/", ZWATCHTYPE_DATA, &zkrecipes_session_watcher, as_context(number_), 0,
                        reinterpret_cast<void_completion_t*>(&zkrecipes_void_done), nullptr);
}

}  // namespace

std::unique_ptr<Handle> open_zookeeper_handle(const HandleSettings& settings,
                                              const std::weak_ptr<HandleListener>& listener) {
  auto handle = std::make_unique<ZookeeperHandle>(registry().add(listener, false), false, settings.log);
  handle->open(settings);
  return handle;
}

std::unique_ptr<Handle> borrow_zookeeper_handle(zhandle_t* existing, const std::weak_ptr<HandleListener>& listener) {
  // Closing a handle of ours waits for its threads. The program's go on, and may be in the middle of a call.
  auto handle = std::make_unique<ZookeeperHandle>(registry().add(listener, true), true, nullptr);
  handle->borrow(existing);
  return handle;
}

bool tls_available() noexcept {
  return ZKRECIPES_HAS_TLS != 0;
}

}  // namespace zkrecipes::detail
