// SPDX-License-Identifier: Apache-2.0
// Following a leader, and looking for one.
#include <algorithm>
#include <cassert>
#include <tuple>
#include <utility>

#include "tests/simulation/model/cluster.h"
#include "tests/simulation/model/leader_role.h"
#include "tests/simulation/model/server.h"

namespace zkrecipes::simulation {

// ---- Looking ----

void Server::look() {
  stop_role();
  role_ = Role::looking;
  cluster_.trace(EnsembleTrace::election, static_cast<std::uint64_t>(number_),
                 [&] { return "server " + std::to_string(number_) + " looks for a leader"; });
  look_again();
}

void Server::look_again() {
  const EnsembleOptions& options = cluster_.options();
  post(cluster_.between(options.least_election_delay, options.most_election_delay), &Server::try_election);
}

void Server::try_election() {
  // A leader that a quorum follows, as far as this server can see.
  int found = -1;
  for (int other = 0; other < cluster_.size(); ++other) {
    const Server& candidate = cluster_.server(other);
    if (candidate.role() != Role::leading || !candidate.is_up() || !cluster_.linked(number_, other)) continue;
    int votes = 0;
    for (int voter = 0; voter < cluster_.size(); ++voter) {
      const Server& server = cluster_.server(voter);
      if (server.leader() == other && server.is_up() && cluster_.linked(number_, voter)) ++votes;
    }
    if (votes < cluster_.quorum()) continue;
    if (found == -1 || candidate.accepted_epoch_ > cluster_.server(found).accepted_epoch_) found = other;
  }
  if (found != -1) return follow(found);

  const auto reached = [&](int other, int from) {
    const Server& server = cluster_.server(other);
    return server.role() == Role::looking && server.is_up() && cluster_.linked(from, other);
  };
  const auto rank = [&](int of) {
    const Server& server = cluster_.server(of);
    return std::make_tuple(server.current_epoch_, server.last_zxid(), of);
  };
  int best = number_;
  for (int other = 0; other < cluster_.size(); ++other)
    if (reached(other, number_) && rank(other) > rank(best)) best = other;
  int votes = 0;
  for (int other = 0; other < cluster_.size(); ++other)
    if (reached(other, best)) ++votes;
  if (votes < cluster_.quorum()) return look_again();
  std::vector<int> voters;
  for (int other = 0; other < cluster_.size(); ++other)
    if (other != best && reached(other, best)) voters.push_back(other);
  cluster_.server(best).lead();
  for (const int voter : voters) cluster_.server(voter).follow(best);
}

void Server::lead() {
  stop_role();
  role_ = Role::leading;
  leader_ = number_;
  leading_ = std::make_unique<LeaderRole>(*this);
}

void Server::leader_tick() {
  leading_->tick();
}
void Server::expire_sessions() {
  leading_->expire_sessions();
}
void Server::check_containers() {
  leading_->check_containers();
}
void Server::give_up_unless_serving() {
  leading_->give_up_unless_serving();
}
void Server::leader_flushed() {
  leading_->leader_flushed();
}

// ---- Following ----

void Server::follow(int leader) {
  stop_role();
  role_ = Role::following;
  leader_ = leader;
  last_heard_ = cluster_.now();
  to_leader_ = &cluster_.connect_servers(number_, leader);
  PeerPacket packet(PeerPacket::Kind::follower_info);
  packet.zxid = applied_zxid_;
  packet.last_zxid = last_zxid();
  packet.epoch = current_epoch_;
  packet.accepted_epoch = accepted_epoch_;
  to_leader_->send_up(std::move(packet));
  check_leader();
}

void Server::check_leader() {
  to_leader_->pump();  // a server that was stopped reads its socket before it says that nothing came
  if (role_ != Role::following) return;
  const EnsembleOptions& options = cluster_.options();
  const Time limit = (serving_ ? options.sync_limit : options.init_limit) * Time(options.tick);
  const Time left = last_heard_ + limit - cluster_.now();
  if (left <= Time::zero()) return look();
  post(std::min(left, Time(options.tick)), &Server::check_leader);  // the limit is another one once it serves
}

void Server::late(std::function<void()> task) {
  if (lag_ == Time::zero() && late_.empty()) return task();
  late_.push_back({cluster_.now() + lag_, std::move(task)});
  post(lag_, &Server::run_late);
}

void Server::run_late() {
  while (!late_.empty() && late_.front().due <= cluster_.now()) {
    const Late next = std::move(late_.front());
    late_.pop_front();
    next.task();
  }
}

Time Server::take_over_log(PeerPacket::Sync& sync) {
  if (sync.snapshot) {
    tree_ = std::move(sync.snapshot);
    log_.clear();
    applied_count_ = 0;
    applied_zxid_ = log_from_ = sync.from;
    history_count_ = sync.history_count;
  } else {
    assert(sync.from == applied_zxid_);
    while (log_.size() > applied_count_) log_.pop_back();
  }
  Time delay{};
  for (TransactionPtr& entry : sync.entries) {
    delay = append(std::move(entry));
    log_.back().flushed = {};  // the new epoch is not written down before its log is
  }
  return delay;
}

void Server::on_leader_packet(PeerConnection& connection, PeerPacket packet) {
  if (&connection != to_leader_) return;
  last_heard_ = cluster_.now();
  switch (packet.kind) {
    case PeerPacket::Kind::leader_info: {
      if (packet.epoch < accepted_epoch_) return look();
      PeerPacket ack(PeerPacket::Kind::epoch_ack);
      ack.valid = packet.epoch > accepted_epoch_;
      accepted_epoch_ = packet.epoch;
      return connection.send_up(std::move(ack));
    }
    case PeerPacket::Kind::new_leader: {
      if (packet.epoch != accepted_epoch_) return look();
      current_epoch_ = packet.epoch;
      const Time delay = take_over_log(*packet.sync);
      PeerPacket ack(PeerPacket::Kind::new_leader_ack);
      ack.zxid = last_zxid();
      return connection.send_up(std::move(ack), delay);
    }
    case PeerPacket::Kind::up_to_date:
      apply_until(packet.zxid);
      serving_ = true;
      cluster_.trace(EnsembleTrace::election, static_cast<std::uint64_t>(number_) + 100, [&] {
        return "server " + std::to_string(number_) + " follows server " + std::to_string(leader_) + " in epoch " +
               std::to_string(current_epoch_);
      });
      return;
    case PeerPacket::Kind::proposal: {
      PeerPacket ack(PeerPacket::Kind::ack);
      ack.zxid = packet.transaction->zxid;
      const Time delay = append(std::move(packet.transaction));
      return connection.send_up(std::move(ack), delay);
    }
    case PeerPacket::Kind::commit:
      return late([this, zxid = packet.zxid] { apply_until(zxid); });
    case PeerPacket::Kind::ping: {
      close_silent_clients();
      PeerPacket reply(PeerPacket::Kind::ping_reply);
      reply.touches.assign(touched_.begin(), touched_.end());
      touched_.clear();
      return connection.send_up(std::move(reply));
    }
    case PeerPacket::Kind::revalidated: {
      const auto found = revalidating_.find(packet.session);
      if (found == revalidating_.end()) return;
      ClientConnection* const waiting = own_connection(found->second);
      revalidating_.erase(found);
      if (waiting != nullptr) finish_connect(*waiting, packet.valid);
      return;
    }
    case PeerPacket::Kind::synced:
      return late([this, request = packet.request] {
        DownPacket answer;
        answer.number = request->number;
        answer.zxid = applied_zxid_;
        answer.reply = std::make_unique<detail::Reply>();
        finish(*request, std::move(answer), false);
      });
    case PeerPacket::Kind::closed:
      return look();
    default:
      return;
  }
}

void Server::on_follower_packet(PeerConnection& connection, PeerPacket packet) {
  if (leading_)
    leading_->on_packet(connection, std::move(packet));
  else
    connection.close_leader();
}

}  // namespace zkrecipes::simulation
