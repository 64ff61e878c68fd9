// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "tests/simulation/model/client_connection.h"
#include "tests/simulation/model/data_tree.h"
#include "tests/simulation/model/ensemble.h"
#include "tests/simulation/model/peer_connection.h"
#include "tests/simulation/model/request_preparer.h"
#include "tests/simulation/model/server_watches.h"
#include "tests/simulation/model/session_tracker.h"
#include "tests/simulation/process.h"

namespace zkrecipes::simulation {

class LeaderRole;

/// One server: what it has on disk, its role, and its clients.
class Server {
 public:
  using Cluster = Ensemble::Cluster;
  enum class Role { dead, looking, following, leading };

  Server(Cluster& cluster, int number);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  int number() const { return number_; }
  Role role() const { return role_; }
  bool is_alive() const { return role_ != Role::dead; }
  bool is_paused() const { return process_ && process_->is_paused(); }
  bool is_up() const { return is_alive() && !is_paused(); }
  bool is_serving() const { return serving_; }
  int leader() const { return leader_; }
  std::int64_t epoch() const { return current_epoch_; }
  std::int64_t last_zxid() const { return log_.empty() ? applied_zxid_ : log_.back().transaction->zxid; }
  std::int64_t applied_zxid() const { return applied_zxid_; }
  const DataTree& tree() const { return *tree_; }
  const SessionTracker* sessions() const;
  std::size_t watches() const { return data_watches_.size() + child_watches_.size(); }
  /// Followers that take part, and the leader itself.
  int supporters() const;

  // ---- Faults ----
  void kill();
  void start();
  void pause();
  void resume();
  void set_lag(Time lag) { lag_ = lag; }

  // ---- Packets ----
  void on_packet(ClientConnection& connection, const UpPacket& packet);
  void on_leader_packet(PeerConnection& connection, PeerPacket packet);
  void on_follower_packet(PeerConnection& connection, PeerPacket packet);

  // ---- Roles ----
  void lead();
  void follow(int leader);
  void look();

  /// A request of nobody's connection, at the leader.
  void submit(const ClientRequestPtr& request);
  void close_connection(ClientConnection& connection);

 private:
  friend class LeaderRole;

  // Clients.
  void connect(ClientConnection& connection, const UpPacket& packet);
  void finish_connect(ClientConnection& connection, bool valid);
  void process(ClientConnection& connection, const ClientRequestPtr& request);
  bool touch(const ClientConnection& connection);
  bool needs_leader(const ClientRequest& request) const;
  void to_leader(const ClientRequestPtr& request);
  void answer_waiting(ClientConnection& connection);
  void answer_read(ClientConnection& connection, const ClientRequest& request);
  void finish(const ClientRequest& request, DownPacket reply, bool close);
  void reply(ClientConnection& connection, DownPacket packet);
  void close_all_clients();
  void close_silent_clients();
  ClientConnection* own_connection(ConnectionId id);
  ClientConnection* connection_of_session(std::int64_t session);

  // The log and the tree.
  /// Returns how long it takes until it is on disk.
  Time append(TransactionPtr transaction);
  void apply_until(std::int64_t zxid);
  void apply(const Transaction& transaction);
  void remove_node(const Transaction& transaction, const std::string& path);
  void fire(const std::vector<ConnectionId>& connections, const std::string& path, detail::WatchEvent event,
            const std::vector<ConnectionId>* except = nullptr);
  void trim_log();
  void note(const Transaction& transaction, Ensemble::Change::Kind kind, const std::string& path, std::int64_t owner);

  // Following.
  void late(std::function<void()> task);
  void run_late();
  void check_leader();
  Time take_over_log(PeerPacket::Sync& sync);

  // Looking.
  void look_again();
  void try_election();

  // Timers of the leader.
  void leader_tick();
  void expire_sessions();
  void check_containers();
  void give_up_unless_serving();
  void leader_flushed();

  void stop_role();
  void post(Time delay, void (Server::*task)());

  Cluster& cluster_;
  const int number_;

  // On disk.
  std::int64_t accepted_epoch_ = 0;
  std::int64_t current_epoch_ = 0;
  std::unique_ptr<DataTree> tree_;
  std::int64_t applied_zxid_ = 0;
  struct LogEntry {
    TransactionPtr transaction;
    Time flushed;  // when it is on disk
  };
  std::deque<LogEntry> log_;       // begins some time before what is applied
  std::size_t applied_count_ = 0;  // of the log
  std::int64_t log_from_ = 0;      // the zxid before the log's first
  std::size_t history_count_ = 0;  // how many transactions its tree has seen

  // In memory.
  std::unique_ptr<Process> process_;  // its clock, timers and pauses
  Role role_ = Role::dead;
  bool serving_ = false;
  int leader_ = -1;
  std::uint64_t role_number_ = 0;  // timers of an earlier role are ignored
  std::unique_ptr<LeaderRole> leading_;
  std::unique_ptr<LeaderRole> retired_;  // may be the one that called look()
  PeerConnection* to_leader_ = nullptr;
  Time last_heard_{};  // from the leader
  std::map<std::int64_t, std::int32_t> touched_;
  std::map<std::int64_t, ConnectionId> revalidating_;
  std::map<std::int64_t, ConnectionId> by_session_;
  std::vector<ConnectionId> connections_;
  ServerWatches data_watches_;
  ServerWatches child_watches_;
  Time lag_{};
  struct Late {
    Time due;
    std::function<void()> task;
  };
  struct Event {
    ConnectionId connection;
    DownPacket packet;
  };
  std::vector<Event> events_behind_reply_;  // with ModelMistake::reply_before_event
  std::deque<Late> late_;                   // what a follower that lags has yet to do
};

}  // namespace zkrecipes::simulation
