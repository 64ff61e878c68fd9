// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "connection/guard.h"
#include "connection/handle.h"
#include "connection/in_flight.h"
#include "connection/outbox.h"
#include "connection/request_sizes.h"
#include "connection/requests.h"
#include "connection/session.h"
#include "connection/watch_table.h"
#include "connection/world.h"

namespace zkrecipes::detail {

using HandlePtr = std::shared_ptr<Handle>;

/// A request and what is to be done with its answer.
struct Pending {
  Pending(SessionPtr of, Request what, ReplyHandler handler)
      : session(std::move(of)), request(std::move(what)), done(std::move(handler)) {}

  SessionPtr session;  // null: belongs to no session
  Request request;
  ReplyHandler done;
  bool repeat = false;      // send again after a connection loss
  bool background = false;  // a heartbeat
  bool measured = false;    // a heartbeat whose answer the observer hears of
  WatchTable::Id watch = 0;
  int refusals = 0;              // times it failed although the connection stayed up
  std::uint64_t connection = 0;  // on which it was sent
  LeaseClock::time_point sent{};
};

/// The requests of a connection on their way to the server and back: those that wait for a connection or for room,
/// those in flight, and the watches that answers have set. Not thread-safe: its owner guards it. It puts the calls that
/// are due into an outbox.
class RequestPipeline {
 public:
  RequestPipeline(World& world, Lane& loop, const ConnectionOptions& options);
  void start(GuardPtr guard) { guard_ = std::move(guard); }

  // Changes of the session and its connection.
  void begin_session(const SessionPtr& session) { session_ = session; }
  /// Requests pass from now on. The number of this connection becomes that of the answers.
  void connected(const HandlePtr& handle);
  /// After connected(): only submit_first() and watches pass until let_pass(), or until another connection.
  void hold_back() { held_back_ = true; }
  void let_pass() { held_back_ = false; }
  /// Sets the watches of the session again on a new connection. To be called ahead of what waits.
  void set_watches_again(Outbox& outbox);
  /// Requests wait. Those in flight are still answered, by the handle.
  void suspend() { handle_ = nullptr; }
  /// Requests wait, also those in flight that can be repeated; the others end with connection_loss.
  void disconnect(Outbox& outbox);
  /// All requests and watches of the session end. Another one may have begun already.
  void end_session(const SessionPtr& ended, Outbox& outbox);
  /// Nothing is taken any more.
  void close() { closed_ = true; }

  /// Sends it now or as soon as possible.
  void submit(Pending&& pending, Outbox& outbox);
  /// Sends it ahead of what waits for room; connection_loss if requests do not pass.
  void submit_first(Pending&& pending, Outbox& outbox);
  /// Sends it on this handle, whatever the state of the session. False if the handle does not take it.
  bool issue(Handle& handle, Pending&& pending);
  /// The same with Handle::listen_for_session_events().
  bool issue_listening(Handle& handle, Pending&& pending);
  /// Sends what waits, as far as there is room.
  void send_waiting(Outbox& outbox);

  /// The request that was answered, or not (`answered`); none if it was given up in the meantime.
  std::optional<Pending> take(std::uint64_t number, Reply& reply, bool answered);
  /// Hands the reply on, or sends the request again.
  void complete(Pending&& pending, Reply&& reply, Outbox& outbox);
  /// A request that raced with a loss of connection may never be answered (ZOOKEEPER-2802).
  void fail_overdue(LeaseClock::time_point now, Outbox& outbox);

  WatchTable::Id watch(WatchTable::Kind kind, const SessionPtr& session, std::string path, WatchHandler event,
                       ReplyHandler done, Outbox& outbox);
  void unwatch(WatchTable::Id id, Outbox& outbox);
  std::vector<WatchHandler> on_watch_event(const std::string& path, WatchEvent event);
  std::vector<Request> unwatch_all() const { return watches_.unwatch_all(); }

  RequestSizes& sizes() { return sizes_; }
  /// Whether the answer to such a request renews the lease of the holds.
  bool proves_lease(RequestKind kind) const;
  LeaseClock::time_point last_proof_sent() const { return last_proof_sent_; }
  bool awaits_answers() const { return !in_flight_.empty(); }
  /// When the oldest request was sent that is not answered; none if there is none.
  std::optional<LeaseClock::time_point> oldest_unanswered() const;

  // Heartbeats are not counted.
  std::size_t in_flight() const;
  std::size_t waiting() const;  ///< for a connection, or for room
  std::size_t open_requests() const { return in_flight() + waiting(); }
  std::size_t open_watches() const { return watches_.size(); }

 private:
  template <class Issue>
  Status dispatch(Handle& handle, Pending& pending, const Issue& issue);
  void transmit(Pending&& pending, Outbox& outbox);
  void refuse(Pending&& pending, Status status, Outbox& outbox);
  void send_unwatch(std::optional<Request> request, Outbox& outbox);
  void retry_later(Pending&& pending);
  Pending rewatch(WatchTable::Id id, std::string path);
  void rewatched(WatchTable::Id id, const std::string& path, const Reply& reply, Outbox& outbox);
  Status over_status() const { return closed_ ? Status::closed : Status::session_over; }

  World& world_;
  Lane& loop_;
  const RetryPolicy retry_;
  const LeaseProof lease_proof_;

  GuardPtr guard_;
  SessionPtr session_;  // null: there is none
  HandlePtr handle_;    // null: requests do not pass
  bool closed_ = false;
  std::uint64_t connection_number_ = 0;
  bool held_back_ = false;
  InFlight<Pending> in_flight_;
  std::deque<Pending> waiting_;  // for a connection, or for room
  WatchTable watches_;
  RequestSizes sizes_;
  LeaseClock::time_point last_proof_sent_{};
};

}  // namespace zkrecipes::detail
