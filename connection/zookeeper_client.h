// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "connection/borrowed_nodes.h"
#include "connection/borrowed_session_keeper.h"
#include "connection/client.h"
#include "connection/fork_guard.h"
#include "connection/guard.h"
#include "connection/handle.h"
#include "connection/mutex.h"
#include "connection/protected_create.h"
#include "connection/request_pipeline.h"
#include "connection/request_sender.h"
#include "connection/server_list.h"
#include "connection/session_keeper.h"
#include "connection/state_feed.h"
#include "connection/world.h"

namespace zkrecipes::detail {

/// The client port: what recipes ask for, turned into requests with the paths of the server. It owns the parts of a
/// connection (the requests, the session, the threads) and the one mutex that guards them.
///
/// Threads: requests are issued on the caller's thread and completed on the C client's completion thread. The loop does
/// what time brings (leases, heartbeats, attempts to connect, retries) and completes what never reached the server.
/// Names are resolved and handles closed on lanes of their own, since both may block. User callbacks have three: a slow
/// one delays only those of its kind.
class ZookeeperClient final : public Client,
                              public RequestSender,
                              public HandleListener,
                              public Guard,
                              public std::enable_shared_from_this<ZookeeperClient> {
 public:
  static std::shared_ptr<ZookeeperClient> connect(ConnectionOptions options, std::shared_ptr<World> world);
  static std::shared_ptr<ZookeeperClient> borrow(const BorrowHandle& borrow, ConnectionOptions options,
                                                 std::shared_ptr<World> world);
  ~ZookeeperClient() override;
  ZookeeperClient(const ZookeeperClient&) = delete;
  ZookeeperClient& operator=(const ZookeeperClient&) = delete;

  // For Connection.
  ConnectionState state() const noexcept { return states_.state(); }
  std::int64_t session_id() const noexcept;
  std::chrono::milliseconds session_timeout() const noexcept;
  bool wait_until_connected(std::chrono::milliseconds timeout);
  Subscription on_state_change(std::function<void(ConnectionState)> callback);
  void set_servers(std::string servers);
  void close() noexcept;

  // Client
  SessionPtr current_session() const override;
  bool is_connected() const noexcept override { return state() == ConnectionState::connected; }
  AwaitId await_session(SessionHandler done) override;
  void wait_for_first_attempt() override { states_.wait_for_first_attempt(first_attempt_until_); }
  AwaitId await_disconnect(std::function<void()> done) override;
  void cancel_await(AwaitId id) override;
  void create(const SessionPtr& session, CreateSpec spec, CreateHandler done) override;
  void remove(const SessionPtr& session, const std::string& path, std::int64_t czxid,
              std::function<void(Status)> done) override;
  void remove_leftover(const SessionPtr& session, const std::string& path, std::int64_t czxid) override;
  void remove_exactly(const SessionPtr& session, const std::string& path, std::int64_t czxid, std::int32_t version,
                      std::function<void(Status)> done) override;
  void exists(const SessionPtr& session, const std::string& path, ReplyHandler done) override;
  void get(const SessionPtr& session, const std::string& path, ReplyHandler done) override;
  void list(const SessionPtr& session, const std::string& path, ReplyHandler done) override;
  void sync(const SessionPtr& session, const std::string& path, ReplyHandler done) override;
  void set(const SessionPtr& session, const std::string& path, std::string data, std::int32_t version,
           ReplyHandler done) override;
  void set_once(const SessionPtr& session, const std::string& path, std::string data, std::int32_t version) override;
  WatchId watch_node(const SessionPtr& session, const std::string& path, WatchHandler event,
                     ReplyHandler done) override;
  WatchId watch_children(const SessionPtr& session, const std::string& path, WatchHandler event,
                         ReplyHandler done) override;
  void unwatch(WatchId watch) override;
  ProbeId probe(const SessionPtr& session, const std::string& path, NodeRole role, std::int64_t czxid,
                std::function<void()> gone) override;
  void unprobe(ProbeId probe) override;
  void prove(const SessionPtr& session, const std::string& node, std::function<void(Status)> done) override;
  TimerId run_at(Clock::time_point time, std::function<void()> task) override {
    return timers_.add(time, std::move(task));
  }
  void cancel_timer(TimerId id) override { timers_.cancel(id); }
  CallbackLane& callbacks() override { return callbacks_; }
  CallbackLane& notices() override { return notices_; }
  const std::string& identity() const override { return options_.identity; }
  const std::shared_ptr<Observer>& observer() const override { return options_.observer; }
  const LogPtr& log() const override { return log_; }  // of RequestSender, too
  void check_acl(const Acl& acl, const std::string& name) const override;
  void check_usable() const override;
  void check_may_block() const override;
  std::exception_ptr closed_error() const override;
  bool in_forked_child() const noexcept override { return fork_guard_.in_child(); }

  // RequestSender
  void send(const SessionPtr& session, Request request, ReplyHandler done) override;
  void send_until_answered(const SessionPtr& session, Request request, ReplyHandler done) override;
  void run_after(std::chrono::milliseconds delay, std::function<void()> task) override;
  const RetryPolicy& retry_policy() const override { return options_.retry; }
  World& world() const override { return *world_; }  // of Client, too

  // HandleListener
  void on_session_event(std::uint32_t handle, SessionEvent event) override;
  void on_reply(std::uint64_t request, Reply reply, bool answered) override;
  void on_watch_event(std::uint32_t handle, const std::string& path, WatchEvent event) override;

  // Guard
  void run_guarded(const Work& work) override;

  /// What is still open on behalf of recipes, heartbeats not counted. For tests and diagnosis.
  struct Load {
    std::size_t requests;
    std::size_t watches;
    std::size_t probes;
    std::size_t timers;
  };
  Load load() const;

 private:
  static constexpr std::chrono::seconds kFirstAttemptPatience{2};

  ZookeeperClient(ConnectionOptions options, ServerList servers, const BorrowHandle& borrow,
                  std::shared_ptr<World> world);
  void start();
  std::unique_ptr<SessionKeeper> make_keeper(std::vector<HostPort> hosts, const BorrowHandle& borrow)
      ZKR_NO_THREAD_SAFETY_ANALYSIS;  // part of the construction
  template <class Locked>
  void run_locked(const Locked& work);
  void submit(Pending&& pending);
  /// `removed`: see remove_for_certain().
  void remove_node(const SessionPtr& session, const std::string& path, std::int64_t czxid,
                   std::function<void(Status)> done, std::function<void()> removed);
  void report_leftover(const std::string& full_path) const;
  WatchId watch(WatchTable::Kind kind, const SessionPtr& session, const std::string& path, WatchHandler event,
                ReplyHandler done);
  CreateHandler remembering(const SessionPtr& session, const CreateSpec& spec, CreateHandler done);
  void begin_close(Outbox& outbox) ZKR_REQUIRES(mutex_);
  void close_elsewhere() noexcept;
  void finish_callbacks();
  std::uint64_t callbacks_posted() const;
  bool on_callback_thread() const noexcept;
  void note_program_thread();
  ChrootPtr make_chroot_node() const;
  std::string full(const std::string& path) const;
  std::string without_chroot(const std::string& path) const;

  // Constant after construction.
  const std::shared_ptr<World> world_;
  const Clock::time_point first_attempt_until_ = world_->now() + kFirstAttemptPatience;
  const ConnectionOptions options_;
  const LogPtr log_ = std::make_shared<const Log>(options_.log);
  const EventFeedPtr events_;  // about the connection; null: nobody observes
  const AclPtr acl_;           // of lock nodes
  const AclPtr parent_acl_;    // of missing parents
  const std::string chroot_;
  const ChrootPtr chroot_node_ = make_chroot_node();
  const bool borrowed_;
  const ForkGuard fork_guard_;
  const std::shared_ptr<const Executor> executor_;  // null: none

  BorrowedNodes borrowed_nodes_;
  std::atomic<std::thread::id> program_thread_{};  // on which the program's own handle calls back, once known

  std::mutex close_mutex_;  // close() by several threads: each returns when it is done
  mutable Mutex mutex_;

  // The parts below refer to them. Their tasks refer to the parts, so the destructor stops them first.
  CallbackLane callbacks_{world_->make_lane("zkr-callback"), executor_, log_};
  CallbackLane notices_{world_->make_lane("zkr-notice"), executor_, log_};
  CallbackLane state_lane_{world_->make_lane("zkr-state"), executor_, log_};
  const std::unique_ptr<Lane> resolver_ = world_->make_lane("zkr-resolver");
  const std::unique_ptr<Lane> ender_ = world_->make_lane("zkr-ender");
  const std::unique_ptr<Lane> dropper_ = world_->make_lane("zkr-dropper");
  const std::unique_ptr<Lane> closer_ = world_->make_lane("zkr-closer");
  const std::unique_ptr<Lane> loop_ = world_->make_lane("zkr-loop");

  Timers timers_{*world_, *loop_};
  StateFeed states_{state_lane_, log_};
  bool unanswered_at_close_ ZKR_GUARDED_BY(mutex_) = false;
  RequestPipeline pipeline_ ZKR_GUARDED_BY(mutex_);
  const std::unique_ptr<SessionKeeper> keeper_ ZKR_PT_GUARDED_BY(mutex_);
};

}  // namespace zkrecipes::detail
