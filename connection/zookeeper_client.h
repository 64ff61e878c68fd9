// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <boost/signals2/signal.hpp>
#include <boost/thread/condition_variable.hpp>
#include <boost/thread/mutex.hpp>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "connection/borrowed_nodes.h"
#include "connection/client.h"
#include "connection/fork_guard.h"
#include "connection/heartbeat.h"
#include "connection/in_flight.h"
#include "connection/outbox.h"
#include "connection/request_sender.h"
#include "connection/server_list.h"
#include "connection/server_rotation.h"
#include "connection/session_monitor.h"
#include "connection/watch_table.h"
#include "connection/zookeeper_handle.h"

namespace zkrecipes::connection {

/// The client port over libzookeeper_mt, and the life of its sessions.
///
/// Threads: requests are issued on the caller's thread and completed on the C client's completion thread. The loop
/// thread does what time brings (leases, heartbeats, attempts to connect, retries) and completes what never reached the
/// server. Names are resolved and handles closed on threads of their own, since both may block. User callbacks have
/// two.
///
/// Servers: each handle knows one server. When that disconnects us or falls silent, a new handle continues the session
/// at the next one (ServerRotation). The C client's own reconnect would come too late for the lease, skips servers, and
/// never resolves a name again.
class ZookeeperClient final : public Client,
                              public RequestSender,
                              public HandleListener,
                              public std::enable_shared_from_this<ZookeeperClient> {
 public:
  static std::shared_ptr<ZookeeperClient> connect(ConnectionOptions options);
  static std::shared_ptr<ZookeeperClient> borrow(zhandle_t* existing, ConnectionOptions options);

  // For Connection.
  ConnectionState state() const noexcept { return state_.load(); }
  std::int64_t session_id() const noexcept;
  std::chrono::milliseconds session_timeout() const noexcept;
  bool wait_until_connected(std::chrono::milliseconds timeout);
  Subscription on_state_change(std::function<void(ConnectionState)> callback);
  void close() noexcept;

  // Client
  SessionPtr current_session() const override;
  bool is_connected() const noexcept override { return state_.load() == ConnectionState::connected; }
  AwaitId await_session(SessionHandler done) override;
  void cancel_await(AwaitId id) override;
  void create(const SessionPtr& session, CreateSpec spec, CreateHandler done) override;
  void remove(const SessionPtr& session, const std::string& path, std::int64_t czxid,
              std::function<void(Status)> done) override;
  void exists(const SessionPtr& session, const std::string& path, ReplyHandler done) override;
  void get(const SessionPtr& session, const std::string& path, ReplyHandler done) override;
  void list(const SessionPtr& session, const std::string& path, ReplyHandler done) override;
  void sync(const SessionPtr& session, const std::string& path, ReplyHandler done) override;
  void set(const SessionPtr& session, const std::string& path, std::string data, std::int32_t version,
           ReplyHandler done) override;
  WatchId watch_node(const SessionPtr& session, const std::string& path, WatchHandler event,
                     ReplyHandler done) override;
  WatchId watch_children(const SessionPtr& session, const std::string& path, WatchHandler event,
                         ReplyHandler done) override;
  void unwatch(WatchId watch) override;
  ProbeId probe(const SessionPtr& session, const std::string& path, NodeRole role, std::int64_t czxid,
                std::function<void()> gone) override;
  void unprobe(ProbeId probe) override;
  void prove(const SessionPtr& session, const std::string& node, std::function<void(Status)> done) override;
  void run_at(Clock::time_point time, std::function<void()> task) override { loop_.post_at(time, std::move(task)); }
  TaskThread& callbacks() override { return callbacks_; }
  TaskThread& notices() override { return notices_; }
  const std::string& identity() const override { return options_.identity; }
  void check_usable() const override;
  void check_may_block() const override;
  std::exception_ptr closed_error() const override;
  bool in_forked_child() const noexcept override { return fork_guard_.in_child(); }

  // RequestSender
  void send(const SessionPtr& session, Request request, ReplyHandler done) override;
  void send_until_answered(const SessionPtr& session, Request request, ReplyHandler done) override;
  void run_after(std::chrono::milliseconds delay, std::function<void()> task) override;
  const RetryPolicy& retry_policy() const override { return options_.retry; }

  // HandleListener
  void on_session_event(std::uint32_t handle, SessionEvent event) override;
  void on_reply(std::uint64_t request, Reply reply, bool answered) override;
  void on_watch_event(std::uint32_t handle, const std::string& path, WatchEvent event) override;

  /// What is still open on behalf of recipes, heartbeats not counted. For tests and diagnosis.
  struct Load {
    std::size_t requests;
    std::size_t watches;
    std::size_t probes;
  };
  Load load() const;

 private:
  struct Pending {
    Pending(SessionPtr of, Request what, ReplyHandler handler)
        : session(std::move(of)), request(std::move(what)), done(std::move(handler)) {}

    SessionPtr session;  // null: belongs to no session
    Request request;
    ReplyHandler done;
    bool repeat = false;      // send again after a connection loss
    bool background = false;  // a heartbeat
    WatchId watch = 0;
    int refusals = 0;              // times it failed although the connection stayed up
    std::uint64_t connection = 0;  // on which it was sent
    LeaseClock::time_point sent{};
  };
  using Time = LeaseClock::time_point;
  using HandlePtr = std::shared_ptr<ZookeeperHandle>;

  ZookeeperClient(ConnectionOptions options, ServerList servers, bool borrowed);

  CreateHandler remembering(const SessionPtr& session, const CreateSpec& spec, CreateHandler done);
  void submit(Pending&& pending);
  WatchId watch(WatchTable::Kind kind, const SessionPtr& session, const std::string& path, WatchHandler event,
                ReplyHandler done);

  // All of these: mutex_ is held.
  void submit_locked(Pending&& pending, Outbox& outbox);
  void transmit(Pending&& pending, Outbox& outbox);
  void send_parked(Outbox& outbox);
  void send_unwatch(std::optional<Request> request, Outbox& outbox);
  void send_heartbeat(Time now, Outbox& outbox);
  ReplyHandler reports_gone(ProbeId probe);
  void note_lost(const Pending& pending);
  void note_disconnect();
  void forget_sizes();
  void fail_overdue(Time now, Outbox& outbox);
  void fail_in_flight(Outbox& outbox);
  void note_borrowed_state(Outbox& outbox, Time now);
  void ask_for_proof(Time now);
  void listen_on_borrowed_handle(SessionPtr session, Time now);
  void apply(SessionEvent event, Time now, Outbox& outbox);
  void publish(Outbox& outbox);
  void drop_session(const SessionPtr& session, Outbox& outbox);
  void remove_leftovers(const SessionPtr& session, Outbox& outbox);
  void close_for_good(ErrorCode code, std::string reason, Outbox& outbox);
  bool proves_lease(RequestKind kind) const;

  // Servers and handles; mutex_ is held.
  void take_up_session(Outbox& outbox);
  Pending rewatch(WatchId id, std::string path);
  void log_state(ConnectionState before, ConnectionState state, Time now);
  bool connecting() const;
  std::optional<Time> silent_since() const;
  void leave_server(Outbox& outbox);
  void give_handle_up();
  void on_leaving_handle_event(std::uint32_t handle, SessionEvent event);
  void end_handles();
  void try_next_server(Time now, std::chrono::milliseconds pause);
  void open_handle(Time now);
  std::chrono::milliseconds pace() const;
  std::chrono::milliseconds pause_after_failure();
  void request_addresses();
  void tick_locked(Time now, Outbox& outbox);
  Time next_heartbeat() const;
  Time next_tick(Time now) const;
  void schedule_tick(Time time);

  bool on_callback_thread() const noexcept;
  void await_last_answers();
  void remove_borrowed_nodes();
  bool issue_unchecked(Request request, ReplyHandler done);
  void retry(Pending&& pending);
  void rewatched(WatchId id, const std::string& path, const Reply& reply);
  void drop_handle(HandlePtr handle);
  void on_addresses(const std::vector<std::string>& addresses, const std::string& problem);
  void tick(Time scheduled);
  std::string full(const std::string& path) const;
  std::string without_chroot(const std::string& path) const;

  // Constant after construction.
  const ConnectionOptions options_;
  const ServerList servers_;
  const ForkGuard fork_guard_;

  BorrowedNodes borrowed_nodes_;
  std::atomic<std::thread::id> program_thread_{};  // on which the program's own handle calls back, once known
  std::atomic<ConnectionState> state_{ConnectionState::connecting};
  boost::signals2::signal<void(ConnectionState, std::uint64_t number)> state_changed_;

  mutable std::mutex mutex_;
  // All below: guarded by mutex_.
  SessionMonitor monitor_;
  std::uint64_t state_number_ = 0;  // counts the states that were entered
  HandlePtr handle_;                // null between two handles
  std::vector<HandlePtr> leaving_;  // of servers that fell silent; closed once they are disconnected
  std::optional<SessionKey> session_key_;
  std::uint64_t connection_number_ = 0;
  bool answered_ = false;  // anything, on the current connection
  InFlight<Pending> in_flight_;
  std::deque<Pending> parked_;  // wait until connected, or for room
  WatchTable watches_;
  HeartbeatPlan heartbeat_;
  SessionPtr leftovers_removed_in_;  // the session in which an earlier one's leftovers were removed
  std::map<AwaitId, SessionHandler> awaiting_session_;
  AwaitId next_await_ = 1;
  ServerRotation rotation_;
  bool resolving_ = false;
  Time attempt_at_ = Time::max();     // when to try the next server
  Time attempt_began_{};              // of the current handle
  Time attempt_until_ = Time::max();  // when to give the current attempt up
  Time last_tick_{};
  Time awake_since_{};  // when this process noticed that it had been stopped
  Time last_answer_{};
  Time last_read_sent_{};   // by heartbeats
  Time last_proof_sent_{};  // any request that renews the lease
  Time disconnected_at_{};
  Time no_session_since_;
  Time tick_scheduled_ = Time::max();
  int auth_failures_ = 0;  // in a row
  // A request above the server's limit makes it drop the connection without saying why.
  std::size_t largest_accepted_ = 0;
  std::size_t largest_lost_ = 0;            // with the connection that was lost last
  int large_losses_ = 0;                    // in a row
  std::size_t size_limit_;                  // what is larger is refused here
  std::vector<Request> unwatch_on_return_;  // what a borrowed handle is to be rid of
  bool closed_ = false;
  ErrorCode close_code_ = ErrorCode::connection_closed;
  std::string close_reason_;

  // For those who block in wait_until_connected(); Boost's, because they are interruptible.
  boost::mutex wait_mutex_;
  boost::condition_variable wait_changed_;

  std::mutex close_mutex_;  // close() by several threads: each returns when it is done

  TaskThread callbacks_{"zkr-callback"};
  TaskThread notices_{"zkr-notice"};
  TaskThread resolver_{"zkr-resolver"};
  TaskThread ender_{"zkr-ender"};      // ends sessions, which may take seconds
  TaskThread dropper_{"zkr-dropper"};  // closes handles that are disconnected, which must not wait
  TaskThread loop_{"zkr-loop"};
};

}  // namespace zkrecipes::connection
