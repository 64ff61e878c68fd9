// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "connection/client.h"
#include "connection/heartbeat.h"
#include "connection/log.h"
#include "connection/outbox.h"
#include "connection/request_pipeline.h"
#include "connection/session_monitor.h"
#include "connection/state_feed.h"
#include "connection/touch_history.h"
#include "connection/world.h"

namespace zkrecipes::detail {

/// What the parts of a connection share. All of it outlives them.
struct ConnectionParts {
  World& world;
  const ConnectionOptions& options;
  LogPtr log;
  Lane& loop;      ///< what time brings
  Lane& resolver;  ///< looks names up, which may block
  Lane& ender;     ///< ends sessions, which may take seconds
  Lane& dropper;   ///< closes handles that are disconnected, which must not wait
  RequestPipeline& pipeline;
  StateFeed& states;
  EventFeedPtr events;  ///< for the observer; null: nobody observes
};

/// Keeps a session alive with heartbeats, notices its end, and lets requests pass while it is connected. How handles
/// come and go is left to the two classes derived from it: a connection's own, or the one that the program has lent.
/// Not thread-safe: the connection's mutex guards it.
class SessionKeeper {
 public:
  using Time = LeaseClock::time_point;

  explicit SessionKeeper(const ConnectionParts& parts);
  virtual ~SessionKeeper() = default;
  SessionKeeper(const SessionKeeper&) = delete;
  SessionKeeper& operator=(const SessionKeeper&) = delete;

  /// `listener` is what handles report to; it is kept alive by notices until they are delivered.
  void start(GuardPtr guard, std::weak_ptr<HandleListener> listener);

  const SessionPtr& session() const { return monitor_.session(); }  ///< null when there is none
  AwaitId await_session(Client::SessionHandler done, Outbox& outbox);
  AwaitId await_disconnect(std::function<void()> done, Outbox& outbox);
  /// The handler, to be destroyed without the mutex.
  Client::SessionHandler cancel_await(AwaitId id);

  ProbeId probe(const SessionPtr& of, const std::string& path, NodeRole role, std::int64_t czxid,
                std::function<void()> gone);
  /// The callback, to be destroyed without the mutex.
  std::function<void()> unprobe(ProbeId id);
  std::size_t probes() const { return heartbeat_.size(); }

  virtual void on_session_event(std::uint32_t handle, SessionEvent event, Time now, Outbox& outbox) = 0;
  /// The handle has something to say about `pending`: an answer of the server (`answered`) or `status`.
  void on_reply(const Pending& pending, Status status, bool answered, Time now, Outbox& outbox);
  /// Whether watch events of this handle count.
  virtual bool listens_to(std::uint32_t handle) const = 0;

  /// From now on the servers are these. Never blocks. A session that is connected to none of them moves to one of them
  /// as soon as that accepts it. Not for a handle that the program has lent.
  virtual void set_servers(ServerList list, std::string text) = 0;

  bool is_closed() const { return closed_; }
  std::exception_ptr closed_error() const;
  /// The program asks for it.
  void close(Outbox& outbox);
  /// After close(): what must be said before the handles are closed. The result waits for the answers; it is to be
  /// called without the mutex. `unanswered`: there were requests in flight at the close.
  virtual std::function<void()> say_goodbye(bool unanswered) = 0;
  /// After that: the handles, to be closed in this order.
  virtual std::vector<HandlePtr> take_handles() = 0;

 protected:
  // What differs between the two kinds of handles.
  virtual void begin(Time now) = 0;
  virtual void tick_handles(Time now, Outbox& outbox) = 0;
  virtual Time next_handle_tick(Time now) const = 0;
  virtual void answered(const Pending& pending, Time now, Outbox& outbox) = 0;
  virtual void not_answered(Status status, Time now, Outbox& outbox) = 0;
  virtual void send_light_heartbeat(bool anything_sent, Time now, Outbox& outbox) = 0;
  virtual void session_ended(Time now, Outbox& outbox) = 0;
  virtual void session_connected(Outbox& outbox) = 0;
  virtual void closing() {}
  virtual std::string where() const = 0;  ///< the server, for the log
  virtual std::string lost_line() const;  ///< for the log: that the state is `lost`

  /// Sends a last request on the handle. Answers come in order: behind this one's there are none. The result waits for
  /// it; see say_goodbye().
  std::function<void()> await_last_answers(Handle& handle);

  bool is_connected() const { return monitor_.state() == ConnectionState::connected; }
  /// The timeout that what renews the leases has to keep up with.
  std::chrono::milliseconds pace() const;
  /// When the newest request was sent that the server has answered on this connection, or on the one before.
  Time newest_touch() const { return touches_.newest(); }
  /// `sent`: the connection was made then, or later.
  /// False when the session cannot be used: too short a timeout was negotiated.
  bool enter_session(const HandlePtr& handle, Time sent, Time now);
  /// The connection cannot be used any more. Logs that, because the program did not ask for it.
  void fail(ErrorCode code, std::string reason, Outbox& outbox);
  /// Carries out what the monitor has noticed.
  void publish(Time now, Outbox& outbox);
  void schedule_tick(Time time);
  enum class Measured { no, yes };
  /// `measured`: the observer hears of the answer.
  void send_background(Request request, ReplyHandler done, Outbox& outbox, Measured measured = Measured::no);
  /// Logs the line when the mutex is no longer held.
  void log(LogSeverity severity, std::string line, Outbox& outbox) const;
  /// The C client says that something is wrong.
  void note_trouble(std::string text, Time now);
  /// Reports the event to the observer, which there is, when the mutex is no longer held.
  void observe(ObserverEvent event, Outbox& outbox) const;

  const ConnectionParts parts_;
  GuardPtr guard_;
  std::weak_ptr<HandleListener> listener_;
  SessionMonitor monitor_;
  std::string servers_;  // as the program wrote them, for people

 private:
  void tick(Time scheduled, Outbox& outbox);
  void tick_all(Time now, Outbox& outbox);
  void end(ErrorCode code, std::string reason, Outbox& outbox);
  void renew_leases(const Pending& pending, Time now, Outbox& outbox);
  void send_heartbeat(Time now, Outbox& outbox);
  ReplyHandler reports_gone(ProbeId id);
  void log_outage(Time now, Outbox& outbox);
  void log_trouble(Time now, Outbox& outbox);
  void log_state(ConnectionState before, ConnectionState state, Time now, Outbox& outbox);
  void observe_state(ConnectionState before, ConnectionState state, const SessionPtr& ended, Outbox& outbox);
  void observe_heartbeat(const Pending& pending, Time now, Outbox& outbox);
  Time counted_from(const Session& session, Time sent) const;
  Time next_heartbeat() const;
  Time next_tick(Time now) const;

  HeartbeatPlan heartbeat_;
  TouchHistory touches_;  // on the current connection
  std::map<AwaitId, Client::SessionHandler> awaiting_session_;
  std::map<AwaitId, Client::SessionHandler> awaiting_disconnect_;
  AwaitId next_await_ = 1;
  Time last_read_sent_{};  // by heartbeats
  Time disconnected_at_;   // or begun
  Time log_outage_at_;     // if it is not over by then
  std::string trouble_;    // the last, if it was not logged yet
  Time trouble_at_{};
  Time no_session_since_{};
  std::int64_t ended_session_id_ = 0;  // of the newest session that is over
  Time tick_scheduled_ = Time::max();
  bool end_noticed_ = false;  // of a session, and session_ended() has not been carried out yet
  bool closed_ = false;
  ErrorCode close_code_ = ErrorCode::connection_closed;
  std::string close_reason_;
};

}  // namespace zkrecipes::detail
