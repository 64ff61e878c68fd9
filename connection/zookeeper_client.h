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
#include <vector>

#include "connection/backoff.h"
#include "connection/borrowed_nodes.h"
#include "connection/client.h"
#include "connection/fork_guard.h"
#include "connection/heartbeat.h"
#include "connection/in_flight.h"
#include "connection/outbox.h"
#include "connection/request_sender.h"
#include "connection/server_list.h"
#include "connection/session_monitor.h"
#include "connection/watch_table.h"
#include "connection/zookeeper_handle.h"

namespace zkrecipes::connection {

/// The client port over libzookeeper_mt, and the life of its sessions.
///
/// Threads: requests are issued on the caller's thread and completed on the C client's completion thread. The loop
/// thread does what time brings (leases, heartbeats, retries) and completes what never reached the server. Names are
/// resolved and handles closed on threads of their own, since both may block. User callbacks have two.
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
  void await_session(SessionHandler done) override;
  void create(const SessionPtr& session, CreateSpec spec, CreateHandler done) override;
  void remove(const SessionPtr& session, const std::string& path, const std::string& guid_in_data,
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
  using Client::probe;
  ProbeId probe(const SessionPtr& session, const std::string& path, std::int64_t czxid,
                std::function<void()> gone) override;
  void unprobe(ProbeId probe) override;
  void run_at(Clock::time_point time, std::function<void()> task) override;
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
  void on_reply(std::uint64_t request, Reply reply, bool proves_session) override;
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
    Clock::time_point sent{};
  };
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
  void send_heartbeat(Clock::time_point now, Outbox& outbox);
  void fail_overdue(Clock::time_point now, Outbox& outbox);
  void note_borrowed_state(Outbox& outbox, Clock::time_point now);
  void ask_for_proof(Clock::time_point now);
  void apply(SessionEvent event, Clock::time_point now, Outbox& outbox);
  void publish(Outbox& outbox);
  void drop_session(const SessionPtr& session, Outbox& outbox);
  void retire_handle();
  void replace_handle();
  void remove_leftovers(const SessionPtr& session, Outbox& outbox);
  void close_for_good(ErrorCode code, std::string reason, Outbox& outbox);
  Clock::time_point next_tick(Clock::time_point now) const;
  void schedule_tick(Clock::time_point time);

  bool on_callback_thread() const noexcept;
  void await_last_answers();
  void remove_borrowed_nodes();
  bool issue_unchecked(Request request, ReplyHandler done);
  void tick(Clock::time_point scheduled);
  void open_handle();
  void install_handle(const std::string& addresses, const std::string& problem);
  std::string full(const std::string& path) const;
  std::string without_chroot(const std::string& path) const;

  // Constant after construction.
  const ConnectionOptions options_;
  const ServerList servers_;
  const ForkGuard fork_guard_;

  BorrowedNodes borrowed_nodes_;
  std::atomic<ConnectionState> state_{ConnectionState::connecting};
  boost::signals2::signal<void(ConnectionState, std::uint64_t number)> state_changed_;

  mutable std::mutex mutex_;
  // All below: guarded by mutex_.
  SessionMonitor monitor_;
  std::uint64_t state_number_ = 0;           // counts the states that were entered
  std::unique_ptr<ZookeeperHandle> handle_;  // null between two handles
  InFlight<Pending> in_flight_;
  std::deque<Pending> parked_;  // wait until connected, or for room
  WatchTable watches_;
  HeartbeatPlan heartbeat_;
  SessionPtr leftovers_removed_in_;  // the session in which an earlier one's leftovers were removed
  std::vector<SessionHandler> awaiting_session_;
  Backoff reconnect_backoff_;
  Clock::time_point no_session_since_;
  Clock::time_point handle_given_up_at_ = Clock::time_point::max();
  Clock::time_point tick_scheduled_ = Clock::time_point::max();
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
  TaskThread closer_{"zkr-closer"};
  TaskThread loop_{"zkr-loop"};
};

}  // namespace zkrecipes::connection
