// SPDX-License-Identifier: Apache-2.0
// What a server does for its clients.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "tests/simulation/model/cluster.h"
#include "tests/simulation/model/leader_role.h"
#include "tests/simulation/model/server.h"

namespace zkrecipes::simulation {

using detail::RequestKind;
using detail::Status;

namespace {

std::array<char, 16> password_of(std::int64_t session) {
  Random random(static_cast<std::uint64_t>(session));
  std::array<char, 16> result{};
  const std::uint64_t words[2] = {random.next(), random.next()};
  std::memcpy(result.data(), words, sizeof words);
  return result;
}

/// Of the packet, with an ACL that is open to anybody.
std::size_t packet_bytes(const detail::Request& request) {
  const std::size_t text = detail::bytes(request);
  if (request.kind == RequestKind::create) return text + 47;
  if (request.kind == RequestKind::set) return text + 20;
  return text + 17;
}

}  // namespace

ClientConnection* Server::own_connection(ConnectionId id) {
  ClientConnection* const connection = id == 0 ? nullptr : cluster_.find_connection(id);
  return connection != nullptr && connection->server_open && &connection->server == this ? connection : nullptr;
}

ClientConnection* Server::connection_of_session(std::int64_t session) {
  const auto found = by_session_.find(session);
  return found == by_session_.end() ? nullptr : own_connection(found->second);
}

// ---- Connections ----

void Server::on_packet(ClientConnection& connection, const UpPacket& packet) {
  if (!is_alive()) {
    connection.server_open = false;
    DownPacket refusal;
    refusal.kind = DownPacket::Kind::refused;
    connection.send_down(std::move(refusal));
    return cluster_.release(connection);
  }
  connection.last_heard = cluster_.now();
  switch (packet.kind) {
    case UpPacket::Kind::connect:
      connections_.push_back(connection.id);
      return connect(connection, packet);
    case UpPacket::Kind::request:
      return process(connection, packet.request);
    case UpPacket::Kind::closed:
      return close_connection(connection);
  }
}

void Server::close_connection(ClientConnection& connection) {
  if (!connection.server_open) return;
  connection.server_open = false;
  connection.forget_up();
  connection.waiting.clear();
  connections_.erase(std::remove(connections_.begin(), connections_.end(), connection.id), connections_.end());
  const auto found = by_session_.find(connection.session);
  if (found != by_session_.end() && found->second == connection.id) by_session_.erase(found);
  data_watches_.drop(connection.id);
  child_watches_.drop(connection.id);
  DownPacket packet;
  packet.kind = DownPacket::Kind::closed;
  connection.send_down(std::move(packet));
  cluster_.release(connection);
}

void Server::close_all_clients() {
  data_watches_.clear();
  child_watches_.clear();
  for (const ConnectionId id : std::vector<ConnectionId>(connections_))
    if (ClientConnection* const connection = own_connection(id)) close_connection(*connection);
  by_session_.clear();
}

void Server::close_silent_clients() {
  for (const ConnectionId id : std::vector<ConnectionId>(connections_)) {
    ClientConnection* const connection = own_connection(id);
    if (connection == nullptr) continue;
    const Time limit = std::chrono::milliseconds(connection->timeout_ms) + cluster_.options().tick;
    if (cluster_.now() - connection->last_heard > limit) close_connection(*connection);
  }
}

void Server::connect(ClientConnection& connection, const UpPacket& packet) {
  if (!serving_ || packet.last_zxid > applied_zxid_) return close_connection(connection);
  const EnsembleOptions& options = cluster_.options();
  const auto least = options.min_session_timeout.count() > 0 ? options.min_session_timeout
                                                             : std::chrono::milliseconds(2 * options.tick);
  auto most = options.max_session_timeout.count() > 0 ? options.max_session_timeout
                                                      : std::chrono::milliseconds(20 * options.tick);
  if (static_cast<std::size_t>(number_) < options.max_session_timeouts.size())
    most = options.max_session_timeouts[static_cast<std::size_t>(number_)];
  connection.timeout_ms = static_cast<std::int32_t>(
      std::min<std::int64_t>(std::max<std::int64_t>(packet.timeout_ms, least.count()), most.count()));
  if (packet.session.id == 0) {
    ClientRequestPtr request(new ClientRequest);
    request->kind = ClientRequest::Kind::create_session;
    request->session = connection.session = cluster_.next_session_id(number_);
    request->timeout_ms = connection.timeout_ms;
    request->server = number_;
    request->connection = connection.id;
    by_session_[connection.session] = connection.id;
    connection.waiting.push_back(request);
    return to_leader(request);
  }
  if (ClientConnection* const former = connection_of_session(packet.session.id))
    if (former != &connection) close_connection(*former);
  connection.session = packet.session.id;
  by_session_[connection.session] = connection.id;
  if (packet.session.password != password_of(connection.session)) return finish_connect(connection, false);
  if (leading_) return finish_connect(connection, leading_->revalidate(connection.session, connection.timeout_ms));
  revalidating_[connection.session] = connection.id;
  PeerPacket question(PeerPacket::Kind::revalidate);
  question.session = connection.session;
  question.timeout_ms = connection.timeout_ms;
  to_leader_->send_up(std::move(question));
}

void Server::finish_connect(ClientConnection& connection, bool valid) {
  DownPacket packet;
  packet.kind = valid ? DownPacket::Kind::established : DownPacket::Kind::session_gone;
  packet.session = {connection.session, password_of(connection.session)};
  packet.timeout_ms = connection.timeout_ms;
  packet.zxid = applied_zxid_;
  connection.established = valid;
  cluster_.trace(EnsembleTrace::session, static_cast<std::uint64_t>(connection.session) * 2 + (valid ? 1 : 0), [&] {
    return "session " + std::to_string(connection.session & 0xffffff) + " of process " +
           std::to_string(connection.process) + (valid ? " is at server " : " is refused by server ") +
           std::to_string(number_) + (valid ? ", timeout " + std::to_string(connection.timeout_ms) + " ms" : "");
  });
  connection.send_down(std::move(packet));
  if (!valid) close_connection(connection);
}

// ---- Requests ----

bool Server::touch(const ClientConnection& connection) {
  if (leading_) return leading_->touch(connection.session, connection.timeout_ms);
  touched_[connection.session] = connection.timeout_ms;
  return true;
}

bool Server::needs_leader(const ClientRequest& request) const {
  if (!request.is_sync()) return request.is_write();
  return role_ == Role::following || cluster_.options().mistake == ModelMistake::sync_needs_quorum;
}

void Server::process(ClientConnection& connection, const ClientRequestPtr& request) {
  if (request->kind == ClientRequest::Kind::ordinary &&
      packet_bytes(request->request) > cluster_.options().max_request_bytes)
    return close_connection(connection);
  if (!connection.established) return close_connection(connection);
  // The leader drops a request of a session that it is about to end, without a word.
  if (!touch(connection)) return;
  request->session = connection.session;
  request->server = number_;
  request->connection = connection.id;
  if (needs_leader(*request)) {
    connection.waiting.push_back(request);
    to_leader(request);
  } else if (connection.waiting.empty()) {
    answer_read(connection, *request);
  } else {
    connection.waiting.push_back(request);
  }
}

void Server::to_leader(const ClientRequestPtr& request) {
  if (leading_) return leading_->submit(request, nullptr);
  PeerPacket packet(PeerPacket::Kind::request);
  packet.request = request;
  to_leader_->send_up(std::move(packet));
}

void Server::submit(const ClientRequestPtr& request) {
  if (leading_ && serving_) leading_->submit(request, nullptr);
}

void Server::finish(const ClientRequest& request, DownPacket packet, bool close) {
  ClientConnection* const connection = own_connection(request.connection);
  if (connection == nullptr || connection->waiting.empty()) return;
  connection->waiting.pop_front();  // answers come in the order in which the leader got the requests
  reply(*connection, std::move(packet));
  if (!connection->server_open) return;
  if (close) return close_connection(*connection);
  answer_waiting(*connection);
}

void Server::answer_waiting(ClientConnection& connection) {
  while (connection.server_open && !connection.waiting.empty() && !needs_leader(*connection.waiting.front())) {
    const ClientRequestPtr request = std::move(connection.waiting.front());
    connection.waiting.pop_front();
    answer_read(connection, *request);
  }
}

void Server::reply(ClientConnection& connection, DownPacket packet) {
  if (!cluster_.losing_next_reply.empty() && cluster_.losing_next_reply.erase(connection.process) != 0) {
    cluster_.trace(EnsembleTrace::fault, connection.id, [&] {
      return "a reply of server " + std::to_string(number_) + " to process " + std::to_string(connection.process) +
             " is lost";
    });
    return cluster_.reset(connection);
  }
  connection.send_down(std::move(packet));
}

void Server::answer_read(ClientConnection& connection, const ClientRequest& request) {
  if (leading_ && leading_->check_session(connection.session) == SessionTracker::Check::moved)
    return close_connection(connection);
  DownPacket packet;
  packet.zxid = applied_zxid_;
  packet.number = request.number;
  if (request.kind == ClientRequest::Kind::ping) {
    packet.kind = DownPacket::Kind::pong;
    return connection.send_down(std::move(packet));
  }
  packet.reply = std::make_unique<detail::Reply>();
  detail::Reply& answer = *packet.reply;
  const detail::Request& what = request.request;
  const DataTree::Node* const node = tree_->find(what.path);
  switch (what.kind) {
    case RequestKind::exists:
      if (what.watch && (node != nullptr || cluster_.options().mistake != ModelMistake::exists_watch_needs_node))
        data_watches_.add(what.path, connection.id);
      break;
    case RequestKind::get:
      if (node != nullptr) answer.data = node->data;
      if (node != nullptr && what.watch) data_watches_.add(what.path, connection.id);
      break;
    case RequestKind::list:
      if (node != nullptr) {
        static std::vector<const char*> names;
        names.clear();
        for (const DataTree::Node* child : node->children) names.push_back(child->name());
        answer.children = detail::NameList(names.data(), static_cast<int>(names.size()));
        if (what.watch) child_watches_.add(what.path, connection.id);
      }
      break;
    case RequestKind::unwatch_data:
      packet.answered = data_watches_.remove(what.path, connection.id);
      break;
    case RequestKind::unwatch_children:
      packet.answered = child_watches_.remove(what.path, connection.id);
      break;
    default:
      break;
  }
  if (what.kind == RequestKind::exists || what.kind == RequestKind::get || what.kind == RequestKind::list) {
    if (node != nullptr)
      answer.stat = node->stat();
    else
      answer.status = Status::no_node;
  }
  connection.send_down(std::move(packet));
}

}  // namespace zkrecipes::simulation
