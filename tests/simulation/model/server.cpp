// SPDX-License-Identifier: Apache-2.0
// A server's life, its log and its tree.
#include "tests/simulation/model/server.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "tests/simulation/model/cluster.h"
#include "tests/simulation/model/leader_role.h"

namespace zkrecipes::simulation {

using detail::Status;
using detail::WatchEvent;

namespace {
// Followers that are further behind get a snapshot.
constexpr std::size_t kLogKept = 500;
}  // namespace

Server::Server(Cluster& cluster, int number)
    : cluster_(cluster), number_(number), tree_(std::make_unique<DataTree>()) {}

Server::~Server() = default;

const SessionTracker* Server::sessions() const {
  return leading_ && serving_ ? &leading_->sessions() : nullptr;
}

int Server::supporters() const {
  return leading_ ? leading_->supporters() : 0;
}

// ---- Faults ----

void Server::start() {
  if (is_alive()) return;
  process_ = std::make_unique<Process>(cluster_.scheduler(), number_);
  role_ = Role::looking;
  look_again();
}

void Server::kill() {
  if (!is_alive()) return;
  stop_role();
  role_ = Role::dead;
  process_->kill();
  process_ = std::make_unique<Process>(cluster_.scheduler(), number_);
  process_->kill();
  // What is not on disk may be lost; what was applied is treated as if it were on disk.
  while (log_.size() > applied_count_ && log_.back().flushed > cluster_.now() && cluster_.random().chance(0.5))
    log_.pop_back();
}

void Server::pause() {
  if (is_alive()) process_->pause();
}

void Server::resume() {
  if (!is_alive() || !process_->is_paused()) return;
  process_->resume();
  // Packets that wait in its sockets and timers that are due compete.
  cluster_.network().pump_all();
}

void Server::post(Time delay, void (Server::*task)()) {
  process_->post(delay, [this, number = role_number_, task] {
    if (number == role_number_) (this->*task)();
  });
}

void Server::stop_role() {
  ++role_number_;
  serving_ = false;
  close_all_clients();
  late_.clear();
  touched_.clear();
  revalidating_.clear();
  if (leading_) {
    leading_->close_followers();
    retired_ = std::move(leading_);
  }
  if (to_leader_ != nullptr) std::exchange(to_leader_, nullptr)->close_follower();
  leader_ = -1;
}

// ---- The log and the tree ----

Time Server::append(TransactionPtr transaction) {
  const EnsembleOptions& options = cluster_.options();
  Time flushed = cluster_.now() + cluster_.between(options.least_disk_delay, options.most_disk_delay);
  if (!log_.empty()) flushed = std::max(flushed, log_.back().flushed);
  log_.push_back({std::move(transaction), flushed});
  return flushed - cluster_.now();
}

void Server::trim_log() {
  if (applied_count_ < 2 * kLogKept) return;
  const auto end = log_.begin() + kLogKept;
  log_from_ = (end - 1)->transaction->zxid;
  log_.erase(log_.begin(), end);
  applied_count_ -= kLogKept;
}

void Server::apply_until(std::int64_t zxid) {
  while (applied_count_ < log_.size() && log_[applied_count_].transaction->zxid <= zxid) {
    const TransactionPtr next = log_[applied_count_++].transaction;
    applied_zxid_ = next->zxid;
    cluster_.check_history(history_count_++, *next);
    apply(*next);
    if (role_ == Role::leading) cluster_.last_noted_zxid = std::max(cluster_.last_noted_zxid, next->zxid);
  }
  trim_log();
}

void Server::note(const Transaction& transaction, Ensemble::Change::Kind kind, const std::string& path,
                  std::int64_t owner) {
  // A new leader applies what its predecessor may have applied before.
  if (role_ != Role::leading || transaction.zxid <= cluster_.last_noted_zxid) return;
  using Kind = Ensemble::Change::Kind;
  cluster_.trace(EnsembleTrace::node, static_cast<std::uint64_t>(transaction.zxid) * 3 + static_cast<unsigned>(kind),
                 [&] {
                   const char* const verb = kind == Kind::created ? "+ " : kind == Kind::changed ? "= " : "- ";
                   return verb + path + (owner != 0 ? " of session " + std::to_string(owner & 0xffffff) : "");
                 });
  cluster_.note_change({kind, path, transaction.zxid, owner});
}

void Server::remove_node(const Transaction& transaction, const std::string& path) {
  const DataTree::Node* const node = tree_->find(path);
  if (node == nullptr) return;
  const std::int64_t owner = node->owner;
  tree_->remove(path);
  note(transaction, Ensemble::Change::Kind::deleted, path, owner);
  const std::vector<ConnectionId> told = data_watches_.fire(path);
  fire(told, path, WatchEvent::deleted);
  fire(child_watches_.fire(path), path, WatchEvent::deleted, &told);
  const std::string parent(parent_path(path));
  fire(child_watches_.fire(parent), parent, WatchEvent::children_changed);
}

void Server::fire(const std::vector<ConnectionId>& connections, const std::string& path, WatchEvent event,
                  const std::vector<ConnectionId>* except) {
  for (const ConnectionId id : connections) {
    if (except != nullptr && std::find(except->begin(), except->end(), id) != except->end()) continue;
    ClientConnection* const connection = own_connection(id);
    if (connection == nullptr) continue;
    DownPacket packet;
    packet.kind = DownPacket::Kind::event;
    packet.event = event;
    packet.zxid = applied_zxid_;
    packet.reply = std::make_unique<detail::Reply>();
    packet.reply->path = path;
    if (cluster_.options().mistake == ModelMistake::reply_before_event)
      events_behind_reply_.push_back({id, std::move(packet)});
    else
      connection->send_down(std::move(packet));
  }
}

void Server::apply(const Transaction& transaction) {
  const ClientRequest& request = *transaction.request;
  DownPacket packet;
  packet.zxid = transaction.zxid;
  packet.number = request.number;
  const bool ours = request.server == number_ && request.connection != 0;
  if (ours) packet.reply = std::make_unique<detail::Reply>();
  bool close = false;
  switch (transaction.kind) {
    case Transaction::Kind::error:
      if (!ours) break;
      packet.reply->status = transaction.status;
      packet.answered = transaction.status != Status::invalid;
      if (transaction.session_error == Transaction::SessionError::expired) {
        packet.reply->status = Status::connection_loss;
        packet.answered = false;
      } else if (transaction.session_error == Transaction::SessionError::moved) {
        if (ClientConnection* const connection = own_connection(request.connection)) close_connection(*connection);
        if (leading_) leading_->applied(transaction);
        return;
      }
      break;
    case Transaction::Kind::create: {
      const DataTree::Node& node = tree_->create(transaction);
      note(transaction, Ensemble::Change::Kind::created, transaction.path, node.owner);
      if (ours) {
        packet.reply->path = transaction.path;
        packet.reply->stat = node.stat();
      }
      fire(data_watches_.fire(transaction.path), transaction.path, WatchEvent::created);
      const std::string& parent = node.parent->path;
      fire(child_watches_.fire(parent), parent, WatchEvent::children_changed);
      break;
    }
    case Transaction::Kind::set: {
      const DataTree::Node& node = tree_->set(transaction);
      note(transaction, Ensemble::Change::Kind::changed, transaction.path, node.owner);
      if (ours) packet.reply->stat = node.stat();
      fire(data_watches_.fire(transaction.path), transaction.path, WatchEvent::changed);
      break;
    }
    case Transaction::Kind::remove:
      remove_node(transaction, transaction.path);
      break;
    case Transaction::Kind::create_session:
      tree_->sessions()[request.session] = transaction.timeout_ms;
      if (role_ == Role::following) touched_[request.session] = transaction.timeout_ms;
      break;
    case Transaction::Kind::close_session: {
      for (const std::string& path : transaction.removed) remove_node(transaction, path);
      const bool known = tree_->sessions().erase(request.session) != 0;
      if (known && role_ == Role::leading)
        cluster_.trace(EnsembleTrace::session, static_cast<std::uint64_t>(request.session),
                       [&] { return "session " + std::to_string(request.session & 0xffffff) + " ends"; });
      touched_.erase(request.session);
      close = true;
      if (!ours) {
        if (ClientConnection* const connection = connection_of_session(request.session)) close_connection(*connection);
      }
      break;
    }
  }
  if (leading_) leading_->applied(transaction);
  if (ours) {
    if (request.kind == ClientRequest::Kind::create_session) {
      if (ClientConnection* const connection = own_connection(request.connection)) {
        connection->waiting.clear();
        finish_connect(*connection, true);
      }
    } else {
      finish(request, std::move(packet), close);
    }
  }
  for (Event& event : std::exchange(events_behind_reply_, {}))
    if (ClientConnection* const connection = own_connection(event.connection))
      connection->send_down(std::move(event.packet));
}

}  // namespace zkrecipes::simulation
