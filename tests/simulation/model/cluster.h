// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/simulation/model/client_connection.h"
#include "tests/simulation/model/ensemble.h"
#include "tests/simulation/model/network.h"
#include "tests/simulation/model/peer_connection.h"
#include "tests/simulation/model/server.h"

namespace zkrecipes::simulation {

/// What the servers and endpoints of an ensemble share.
class Ensemble::Cluster {
 public:
  Cluster(Scheduler& scheduler, Trace& trace, EnsembleOptions options);
  ~Cluster();

  const EnsembleOptions& options() const { return options_; }
  Scheduler& scheduler() { return scheduler_; }
  Network& network() { return network_; }
  Time now() const { return scheduler_.now(); }
  Random& random() { return scheduler_.random(); }
  Time between(Time least, Time most) { return random().between(least, most); }

  template <class MakeText>
  void trace(EnsembleTrace kind, std::uint64_t number, const MakeText& make_text) {
    trace_.add(static_cast<std::uint32_t>(kind), number, make_text);
  }

  // ---- Servers ----
  int size() const { return static_cast<int>(servers_.size()); }
  int quorum() const { return size() / 2 + 1; }
  Server& server(int number) { return *servers_[static_cast<std::size_t>(number)]; }
  const Server& server(int number) const { return *servers_[static_cast<std::size_t>(number)]; }
  std::string& address(int number) { return addresses_[static_cast<std::size_t>(number)]; }
  Link& server_link(int from, int to) {
    return server_links_[static_cast<std::size_t>(from) * servers_.size() + static_cast<std::size_t>(to)];
  }
  /// Both directions work.
  bool linked(int a, int b) { return a == b || (server_link(a, b).works() && server_link(b, a).works()); }
  /// Not inside the delivery of a packet. Lives until both sides have closed it, and longer.
  PeerConnection& connect_servers(int follower, int leader);
  const std::vector<std::unique_ptr<PeerConnection>>& peer_connections() const { return peer_connections_; }
  std::int64_t next_session_id(int server);

  // ---- Clients ----
  struct ClientLink {
    Link to_server;
    Link to_client;
  };
  ClientLink& client_link(int process, int server);
  /// Starts a connection, whose first packet is `connect`. Null when nobody is at the address; `refused` says whether
  /// the client is told.
  ClientConnection* connect_client(int process, const std::string& address, ClientConnection::Client& client,
                                   UpPacket connect, bool& refused);
  ClientConnection* find_connection(ConnectionId id);
  /// Forgets the connection if both ends have closed it.
  void release(ClientConnection& connection);
  void reset(ClientConnection& connection);
  std::map<ConnectionId, std::unique_ptr<ClientConnection>>& connections() { return connections_; }
  std::uint32_t next_handle_number() { return ++last_handle_; }

  void note_change(const Change& change) {
    if (on_change) on_change(change);
  }
  std::function<void(const Change&)> on_change;
  std::map<int, bool> losing_next_reply;  // by process
  std::int64_t last_noted_zxid = 0;

  /// Throws std::logic_error when two servers have applied different transactions at one place: the model is wrong.
  void check_history(std::size_t place, const Transaction& transaction);

  void heal_links();

  /// The server whose tree has everything that is known to be committed.
  const Server& most_advanced() const;
  int leader() const;

 private:
  void bury(std::unique_ptr<ClientConnection> connection);

  Scheduler& scheduler_;
  Trace& trace_;
  const EnsembleOptions options_;
  Network network_;
  std::vector<std::unique_ptr<Server>> servers_;
  std::vector<std::string> addresses_;
  std::vector<Link> server_links_;
  std::vector<std::unique_ptr<PeerConnection>> peer_connections_;
  std::map<std::pair<int, int>, ClientLink> client_links_;
  std::map<ConnectionId, std::unique_ptr<ClientConnection>> connections_;
  std::vector<std::unique_ptr<ClientConnection>> buried_;  // until no packet of theirs is being delivered
  bool reaping_ = false;
  std::vector<std::int64_t> history_;  // each transaction's zxid, and whose it was
  ConnectionId last_connection_ = 0;
  std::int64_t last_session_ = 0;
  std::uint32_t last_handle_ = 0;
};

}  // namespace zkrecipes::simulation
