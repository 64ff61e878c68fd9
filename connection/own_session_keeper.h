// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "connection/server_rotation.h"
#include "connection/session_keeper.h"

namespace zkrecipes::detail {

/// Keeps sessions of the connection's own, one after the other.
///
/// Each handle knows one server. When that disconnects us or falls silent, a new handle continues the session at the
/// next one (ServerRotation). The C client's own reconnect would come too late for the lease, skips servers, and never
/// resolves a name again.
///
/// A session that is to move because its server is no longer in the list stays where it is until a server of the list
/// has accepted it. So a list in which nobody answers, or whose servers do not know the session, does no harm.
class OwnSessionKeeper final : public SessionKeeper {
 public:
  OwnSessionKeeper(const ConnectionParts& parts, std::vector<HostPort> hosts);

  void on_session_event(std::uint32_t handle, SessionEvent event, Time now, Outbox& outbox) override;
  bool listens_to(std::uint32_t handle) const override { return handle_ && handle_->number() == handle; }
  void set_servers(ServerList list, std::string text) override;
  std::function<void()> say_goodbye(bool unanswered) override;
  std::vector<HandlePtr> take_handles() override;

 private:
  /// A handle that is being connected.
  struct Attempt {
    HandlePtr handle;  // null: there is none
    std::string address;
    Time began{};
    Time until = Time::max();  // when to give it up
  };

  void begin(Time now) override;
  void tick_handles(Time now, Outbox& outbox) override;
  Time next_handle_tick(Time now) const override;
  void answered(const Pending& pending, Time now, Outbox& outbox) override;
  void not_answered(Status /*status*/, Time /*now*/, Outbox& /*outbox*/) override {}
  void send_light_heartbeat(bool anything_sent, Time now, Outbox& outbox) override;
  void session_ended(Time now, Outbox& outbox) override;
  void session_connected(Outbox& /*outbox*/) override {}
  std::string where() const override { return address_; }

  void connected(Time now, Outbox& outbox);
  void disconnected(Time now, Outbox& outbox);
  void auth_failed(Time now, Outbox& outbox);
  void credentials_refused_after_move(Time now, Outbox& outbox);
  void continue_session(Outbox& outbox);
  void lose_connection(Outbox& outbox);
  void observe_server(Outbox& outbox);

  bool is_connecting() const { return handle_ && !is_connected(); }
  std::optional<Time> silent_since() const;
  void leave_server(Time now, Outbox& outbox);
  void give_up(HandlePtr handle);
  void drop_later(HandlePtr handle);
  bool keep_if_connected(HandlePtr& handle);
  void on_leaving_handle_event(std::uint32_t handle, SessionEvent event);
  void end_handles();
  void try_next_server(Time now, std::chrono::milliseconds pause, Outbox& outbox);
  void open_handle(Time now, Outbox& outbox);
  Attempt start_attempt(Time now, Outbox& outbox);
  void move_from(const std::string& server, Time now);
  void tick_move(Time now, Outbox& outbox);
  void successor_failed(SessionEvent event, Time now, Outbox& outbox);
  void take_over(Outbox& outbox);
  std::chrono::milliseconds pause_after_failure();
  std::chrono::milliseconds pause_before_move();
  std::function<void(const std::string&)> c_client_sink(const std::string& address);
  void request_addresses();
  void log_names(const std::string& problem, Outbox& outbox);
  void on_addresses(std::uint64_t list, const std::vector<std::string>& addresses, bool complete);

  std::vector<HostPort> hosts_;
  ServerRotation rotation_;
  HandlePtr handle_;                // null between two handles
  std::string address_;             // of handle_, or of the one before
  std::string observed_server_;     // of which the observer has heard last
  std::vector<HandlePtr> leaving_;  // of servers that fell silent; closed once they are disconnected
  std::optional<SessionKey> session_key_;
  bool answered_ = false;          // anything, on the current connection
  int auth_failures_ = 0;          // in a row
  std::uint64_t list_ = 0;         // number of the list of servers in use
  bool resolving_ = false;         // its names
  bool list_is_new_ = false;       // rotation_ still has the addresses of the list before
  bool check_server_ = false;      // whether ours is in the list is still to be found out
  Time look_up_at_ = Time::max();  // when to try that again
  Attempt successor_;              // at a server of the list; takes the session over from one that is not
  Time move_at_ = Time::max();     // when to make the next one
  Time move_not_before_{};         // a listed server has refused the credentials
  std::string former_;             // a server outside the list that had the session, until one of the list has answered
  bool try_former_ = false;        // in the next attempt
  bool warned_of_successor_ = false;
  Time log_names_at_{};               // when names that do not resolve may be logged again
  Time attempt_at_ = Time::max();     // when to try the next server
  Time attempt_began_{};              // of the current handle
  Time attempt_until_ = Time::max();  // when to give the current attempt up
  Time last_answer_{};
  Time last_tick_{};
  Time awake_since_{};  // when this process noticed that it had been stopped
};

}  // namespace zkrecipes::detail
