// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/model/cluster.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace zkrecipes::simulation {

Ensemble::Cluster::Cluster(Scheduler& scheduler, Trace& trace, EnsembleOptions options)
    : scheduler_(scheduler), trace_(trace), options_(std::move(options)), network_(scheduler) {
  for (int number = 0; number < options_.servers; ++number) {
    servers_.push_back(std::make_unique<Server>(*this, number));
    addresses_.push_back("10.0.0." + std::to_string(number + 1) + ":2181");
  }
  server_links_.resize(servers_.size() * servers_.size());
}

Ensemble::Cluster::~Cluster() = default;

PeerConnection& Ensemble::Cluster::connect_servers(int follower, int leader) {
  peer_connections_.erase(std::remove_if(peer_connections_.begin(), peer_connections_.end(),
                                         [](const auto& connection) { return connection->over(); }),
                          peer_connections_.end());
  peer_connections_.push_back(std::make_unique<PeerConnection>(network_, server(follower), server(leader),
                                                               server_link(follower, leader),
                                                               server_link(leader, follower), options_));
  if (server_link(follower, leader).is_cut() || server_link(leader, follower).is_cut())
    peer_connections_.back()->reset();
  return *peer_connections_.back();
}

std::int64_t Ensemble::Cluster::next_session_id(int server) {
  return (static_cast<std::int64_t>(server + 1) << 56) | ++last_session_;
}

Ensemble::Cluster::ClientLink& Ensemble::Cluster::client_link(int process, int server) {
  return client_links_[{process, server}];
}

ClientConnection* Ensemble::Cluster::connect_client(int process, const std::string& address,
                                                    ClientConnection::Client& client, UpPacket connect, bool& refused) {
  const auto found = std::find(addresses_.begin(), addresses_.end(), address);
  if (found == addresses_.end()) {
    refused = random().chance(0.5);
    return nullptr;
  }
  const int number = static_cast<int>(found - addresses_.begin());
  ClientLink& link = client_link(process, number);
  if (link.to_server.is_cut() || link.to_client.is_cut()) {
    refused = true;
    return nullptr;
  }
  const ConnectionId id = ++last_connection_;
  auto& slot = connections_[id];
  slot = std::make_unique<ClientConnection>(network_, id, process, server(number), client, link.to_server,
                                            link.to_client, options_);
  // The first round trip is that of TCP.
  const Time handshake = between(2 * options_.least_client_delay, 2 * options_.most_client_delay);
  slot->send_up(std::move(connect), handshake);
  trace(EnsembleTrace::connection, id,
        [&] { return "process " + std::to_string(process) + " connects to server " + std::to_string(number); });
  return slot.get();
}

ClientConnection* Ensemble::Cluster::find_connection(ConnectionId id) {
  const auto found = connections_.find(id);
  return found == connections_.end() ? nullptr : found->second.get();
}

void Ensemble::Cluster::release(ClientConnection& connection) {
  if (!connection.over()) return;
  const auto found = connections_.find(connection.id);
  if (found == connections_.end()) return;
  bury(std::move(found->second));
  connections_.erase(found);
}

void Ensemble::Cluster::bury(std::unique_ptr<ClientConnection> connection) {
  buried_.push_back(std::move(connection));
  if (std::exchange(reaping_, true)) return;
  scheduler_.after(Time::zero(), [this] {
    reaping_ = false;
    buried_.clear();
  });
}

void Ensemble::Cluster::reset(ClientConnection& connection) {
  connection.forget_up();
  connection.forget_down();
  trace(EnsembleTrace::connection, connection.id + (1ULL << 32), [&] {
    return "the connection of process " + std::to_string(connection.process) + " with server " +
           std::to_string(connection.server.number()) + " is reset";
  });
  if (connection.server_open) connection.server.close_connection(connection);
}

void Ensemble::Cluster::heal_links() {
  trace(EnsembleTrace::fault, 0, [] { return std::string("all links work"); });
  for (Link& link : server_links_) link = {};
  for (auto& [ends, links] : client_links_) links = {};
  network_.pump_all();
}

void Ensemble::Cluster::check_history(std::size_t place, const Transaction& transaction) {
  const std::int64_t mark = transaction.zxid * 31 + transaction.request->session + transaction.proposer;
  if (place == history_.size())
    history_.push_back(mark);
  else if (place > history_.size() || history_[place] != mark)
    throw std::logic_error("the model is wrong: two servers have different histories, at transaction " +
                           std::to_string(transaction.zxid));
}

int Ensemble::Cluster::leader() const {
  int result = -1;
  for (int number = 0; number < size(); ++number) {
    const Server& candidate = server(number);
    if (candidate.role() != Server::Role::leading || !candidate.is_serving()) continue;
    if (result == -1 || candidate.epoch() > server(result).epoch()) result = number;
  }
  return result;
}

const Server& Ensemble::Cluster::most_advanced() const {
  const Server* best = servers_.front().get();
  for (const auto& candidate : servers_)
    if (candidate->applied_zxid() > best->applied_zxid()) best = candidate.get();
  return *best;
}

}  // namespace zkrecipes::simulation
