// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/model/leader_role.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "tests/simulation/model/cluster.h"

namespace zkrecipes::simulation {

namespace {
constexpr std::int64_t kEpochShift = 32;
// Servers have the wall clock; the simulation begins at some day in it.
constexpr std::int64_t kStartOfTimeMs = 1'700'000'000'000;

std::int64_t milliseconds(Time time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}
std::uint32_t bit(int server) {
  return 1U << static_cast<unsigned>(server);
}
int votes(std::uint32_t servers) {
  return __builtin_popcount(servers);
}
}  // namespace

LeaderRole::LeaderRole(Server& server)
    : server_(server),
      cluster_(server.cluster_),
      preparer_(*server.tree_, cluster_.random(), cluster_.options().mistake),
      sessions_(cluster_.options().tick.count(), now_ms()) {
  const EnsembleOptions& options = cluster_.options();
  server_.post(options.init_limit * Time(options.tick), &Server::give_up_unless_serving);
  choose_epoch();
}

/// Of the server's own clock, which has nothing to do with that of other servers.
std::int64_t LeaderRole::now_ms() const {
  return milliseconds(cluster_.now()) + 1'000'000 + server_.number_ * 7'919;
}

LeaderRole::Follower& LeaderRole::follower(const PeerConnection& connection) {
  return followers_[connection.follower().number()];
}

int LeaderRole::supporters() const {
  int result = 1;
  for (const auto& [number, follower] : followers_)
    if (follower.synced && cluster_.linked(server_.number_, number) && cluster_.server(number).is_up()) ++result;
  return result;
}

// ---- Taking office ----

void LeaderRole::choose_epoch() {
  if (epoch_ == 0) {
    if (1 + static_cast<int>(followers_.size()) < cluster_.quorum()) return;
    std::int64_t accepted = server_.accepted_epoch_;
    for (const auto& [number, follower] : followers_) accepted = std::max(accepted, follower.accepted_epoch);
    epoch_ = server_.accepted_epoch_ = accepted + 1;
    next_zxid_ = (epoch_ << kEpochShift) + 1;
  }
  for (auto& [number, follower] : followers_) {
    if (std::exchange(follower.informed, true)) continue;
    PeerPacket packet(PeerPacket::Kind::leader_info);
    packet.epoch = epoch_;
    follower.connection->send_down(std::move(packet));
  }
  establish_epoch();
}

/// A quorum must promise to follow no earlier leader before any of it takes over this leader's log.
void LeaderRole::establish_epoch() {
  if (1 + votes(promises_) < cluster_.quorum()) return;
  if (!std::exchange(established_, true)) server_.current_epoch_ = epoch_;
  for (auto& [number, follower] : followers_)
    if (follower.epoch_acked && !follower.forwarding) send_log(follower);
  if (!server_.serving_ && cluster_.quorum() == 1) begin_to_serve();
}

void LeaderRole::send_log(Follower& follower) {
  PeerPacket packet(PeerPacket::Kind::new_leader);
  packet.epoch = epoch_;
  packet.sync = std::make_unique<PeerPacket::Sync>();
  PeerPacket::Sync& sync = *packet.sync;
  sync.from = follower.applied_zxid;
  if (follower.applied_zxid < server_.log_from_) {
    sync.snapshot = std::make_unique<DataTree>(*server_.tree_);
    sync.from = server_.applied_zxid_;
    sync.history_count = server_.history_count_;
  }
  for (const Server::LogEntry& entry : server_.log_)
    if (entry.transaction->zxid > sync.from) sync.entries.push_back(entry.transaction);
  follower.forwarding = true;
  follower.newest_sent_zxid = server_.last_zxid();
  follower.connection->send_down(std::move(packet));
}

void LeaderRole::begin_to_serve() {
  const EnsembleOptions& options = cluster_.options();
  server_.serving_ = true;
  cluster_.trace(
      EnsembleTrace::election, static_cast<std::uint64_t>(epoch_) * 100 + static_cast<unsigned>(server_.number_),
      [&] { return "server " + std::to_string(server_.number_) + " leads in epoch " + std::to_string(epoch_); });
  server_.apply_until(server_.last_zxid());
  committed_ = server_.last_zxid();
  sessions_ = SessionTracker(options.tick.count(), now_ms());
  for (const auto& [session, timeout] : server_.tree_->sessions()) sessions_.track(session, timeout, now_ms());
  for (auto& [number, follower] : followers_)
    if (follower.synced) send_up_to_date(follower);
  server_.post(Time(options.tick) / 2, &Server::leader_tick);
  server_.post(std::chrono::milliseconds(sessions_.next_check_ms() - now_ms()), &Server::expire_sessions);
  server_.post(options.container_check_interval, &Server::check_containers);
}

void LeaderRole::send_up_to_date(Follower& follower) {
  follower.deadline_tick = tick_ + cluster_.options().sync_limit;
  PeerPacket packet(PeerPacket::Kind::up_to_date);
  packet.zxid = committed_;
  follower.connection->send_down(std::move(packet));
}

void LeaderRole::give_up_unless_serving() {
  if (!server_.serving_) server_.look();
}

// ---- Followers ----

void LeaderRole::on_packet(PeerConnection& connection, PeerPacket packet) {
  if (packet.kind == PeerPacket::Kind::follower_info) {
    Follower fresh;
    fresh.connection = &connection;
    fresh.applied_zxid = packet.zxid;
    fresh.accepted_epoch = packet.accepted_epoch;
    fresh.last_heard = cluster_.now();
    fresh.deadline_tick = tick_ + cluster_.options().init_limit;
    Follower& known = follower(connection);
    if (known.connection != nullptr && known.connection != &connection) known.connection->close_leader();
    known = fresh;
    const bool ahead =
        std::make_pair(packet.epoch, packet.last_zxid) > std::make_pair(server_.current_epoch_, server_.last_zxid());
    if (!established_ && ahead) return server_.look();
    return choose_epoch();
  }
  const auto found = followers_.find(connection.follower().number());
  if (found == followers_.end() || found->second.connection != &connection) return connection.close_leader();
  Follower& from = found->second;
  from.last_heard = cluster_.now();
  from.deadline_tick = tick_ + cluster_.options().sync_limit;
  switch (packet.kind) {
    case PeerPacket::Kind::epoch_ack:
      from.epoch_acked = true;
      if (packet.valid) promises_ |= bit(connection.follower().number());
      return establish_epoch();
    case PeerPacket::Kind::new_leader_ack:
    case PeerPacket::Kind::ack:
      if (packet.zxid >= from.newest_sent_zxid)
        from.oldest_unacked = {};
      else if (packet.zxid >= from.oldest_unacked_zxid)
        from.oldest_unacked = cluster_.now();
      for (Proposal& proposal : outstanding_)
        if (proposal.transaction->zxid <= packet.zxid) proposal.acks |= bit(connection.follower().number());
      if (packet.kind == PeerPacket::Kind::new_leader_ack) {
        from.synced = true;
        if (server_.serving_)
          send_up_to_date(from);
        else if (1 + std::count_if(followers_.begin(), followers_.end(),
                                   [](const auto& entry) { return entry.second.synced; }) >=
                 cluster_.quorum())
          begin_to_serve();
      }
      return try_commit();
    case PeerPacket::Kind::ping_reply:
      for (const auto& [session, timeout] : packet.touches) sessions_.touch(session, timeout, now_ms());
      return;
    case PeerPacket::Kind::request:
      return submit(packet.request, &connection);
    case PeerPacket::Kind::revalidate: {
      PeerPacket answer(PeerPacket::Kind::revalidated);
      answer.session = packet.session;
      answer.valid = sessions_.touch(packet.session, packet.timeout_ms, now_ms());
      if (answer.valid) sessions_.set_owner(packet.session, connection.follower().number());
      return connection.send_down(std::move(answer));
    }
    case PeerPacket::Kind::closed:
      return drop(from);
    default:
      return;
  }
}

void LeaderRole::drop(Follower& follower) {
  PeerConnection& connection = *follower.connection;
  connection.close_leader();
  followers_.erase(connection.follower().number());
}

void LeaderRole::close_followers() {
  for (auto& [number, follower] : followers_) follower.connection->close_leader();
  followers_.clear();
}

/// Twice a tick.
void LeaderRole::tick() {
  const EnsembleOptions& options = cluster_.options();
  std::vector<int> numbers;
  for (const auto& [number, follower] : followers_) numbers.push_back(number);
  for (const int number : numbers) {
    const auto found = followers_.find(number);
    if (found == followers_.end()) continue;
    found->second.connection->pump();  // what has arrived while the server was stopped
  }
  if (!server_.leading_ || server_.leading_.get() != this) return;
  for (const int number : numbers) {
    const auto found = followers_.find(number);
    if (found == followers_.end()) continue;
    const Time limit = (found->second.synced ? options.sync_limit : options.init_limit) * Time(options.tick);
    if (cluster_.now() - found->second.last_heard > limit) drop(found->second);
  }
  if (!skip_check_) {
    ++tick_;
    int in_touch = 1;
    for (const auto& [number, follower] : followers_)
      if (tick_ <= follower.deadline_tick) ++in_touch;
    if (in_touch < cluster_.quorum()) return server_.look();
  }
  skip_check_ = !skip_check_;
  for (const int number : numbers) {
    const auto found = followers_.find(number);
    if (found == followers_.end() || !found->second.forwarding) continue;
    const Time unacked = found->second.oldest_unacked;
    if (unacked != Time::zero() && cluster_.now() - unacked >= options.sync_limit * Time(options.tick))
      drop(found->second);
    else
      found->second.connection->send_down(PeerPacket(PeerPacket::Kind::ping));
  }
  server_.close_silent_clients();
  server_.post(Time(options.tick) / 2, &Server::leader_tick);
}

// ---- Sessions ----

bool LeaderRole::touch(std::int64_t session, std::int32_t timeout_ms) {
  return sessions_.touch(session, timeout_ms, now_ms());
}

SessionTracker::Check LeaderRole::check_session(std::int64_t session) {
  return sessions_.check(session, server_.number_);
}

bool LeaderRole::revalidate(std::int64_t session, std::int32_t timeout_ms) {
  if (!touch(session, timeout_ms)) return false;
  sessions_.set_owner(session, server_.number_);
  return true;
}

void LeaderRole::expire_sessions() {
  while (now_ms() >= sessions_.next_check_ms()) {
    for (const std::int64_t session : sessions_.expire(now_ms())) {
      cluster_.trace(EnsembleTrace::session, static_cast<std::uint64_t>(session) + 1, [&] {
        return "session " + std::to_string(session & 0xffffff) + " has expired at server " +
               std::to_string(server_.number_);
      });
      ClientRequestPtr request(new ClientRequest);
      request->kind = ClientRequest::Kind::close_session;
      request->session = session;
      propose(request);
    }
  }
  server_.post(std::chrono::milliseconds(sessions_.next_check_ms() - now_ms()), &Server::expire_sessions);
}

void LeaderRole::check_containers() {
  for (std::string& path : server_.tree_->removable_containers()) {
    ClientRequestPtr request(new ClientRequest);
    request->kind = ClientRequest::Kind::delete_container;
    request->request.path = std::move(path);
    propose(request);
  }
  server_.post(cluster_.options().container_check_interval, &Server::check_containers);
}

// ---- Requests ----

void LeaderRole::submit(const ClientRequestPtr& request, PeerConnection* from) {
  // This server's own clients have their sync answered like a read, and do not come here.
  if (from == nullptr || !request->is_sync()) return propose(request);
  if (outstanding_.empty())
    answer_sync(*from, request);
  else
    outstanding_.back().syncs.emplace_back(from, request);
}

void LeaderRole::answer_sync(PeerConnection& connection, const ClientRequestPtr& request) {
  const auto found = followers_.find(connection.follower().number());
  if (found == followers_.end() || found->second.connection != &connection) return;
  PeerPacket packet(PeerPacket::Kind::synced);
  packet.request = request;
  connection.send_down(std::move(packet));
}

void LeaderRole::propose(const ClientRequestPtr& request) {
  boost::intrusive_ptr<Transaction> transaction(new Transaction);
  transaction->zxid = next_zxid_;
  transaction->time_ms = kStartOfTimeMs + milliseconds(cluster_.now());
  transaction->request = request;
  transaction->proposer = server_.number_;
  using Kind = ClientRequest::Kind;
  SessionTracker::Check check = SessionTracker::Check::ok;
  if (request->kind == Kind::create_session) {
    sessions_.track(request->session, request->timeout_ms, now_ms());
    sessions_.set_owner(request->session, request->server);
  } else if (request->kind == Kind::ordinary && request->session != 0) {
    check = sessions_.check(request->session, request->server);
  }
  if (check == SessionTracker::Check::ok)
    preparer_.prepare(*transaction);
  else
    transaction->session_error =
        check == SessionTracker::Check::moved ? Transaction::SessionError::moved : Transaction::SessionError::expired;
  if (request->kind == Kind::close_session) sessions_.set_closing(request->session);
  const bool is_error = transaction->kind == Transaction::Kind::error;
  if (is_error && cluster_.options().mistake == ModelMistake::failed_writes_take_no_zxid &&
      request->server == server_.number_) {
    --transaction->zxid;
    if (outstanding_.empty()) return server_.apply(*transaction);
    outstanding_.back().errors.emplace_back(transaction);
    return;
  }
  ++next_zxid_;
  Proposal proposal;
  proposal.transaction = transaction;
  proposal.flushed = cluster_.now() + server_.append(transaction);
  outstanding_.push_back(std::move(proposal));
  for (auto& [number, follower] : followers_) {
    if (!follower.forwarding) continue;
    if (follower.oldest_unacked == Time::zero()) {
      follower.oldest_unacked = cluster_.now();
      follower.oldest_unacked_zxid = transaction->zxid;
    }
    follower.newest_sent_zxid = transaction->zxid;
    PeerPacket packet(PeerPacket::Kind::proposal);
    packet.transaction = transaction;
    follower.connection->send_down(std::move(packet));
  }
  if (cluster_.quorum() == 1 && !flush_timer_) leader_flushed();
}

void LeaderRole::leader_flushed() {
  flush_timer_ = false;
  try_commit();
}

void LeaderRole::try_commit() {
  while (!outstanding_.empty()) {
    const Proposal& first = outstanding_.front();
    const int others = votes(first.acks);
    if (others + 1 < cluster_.quorum()) return;
    if (others < cluster_.quorum() && first.flushed > cluster_.now()) {
      if (!std::exchange(flush_timer_, true)) server_.post(first.flushed - cluster_.now(), &Server::leader_flushed);
      return;
    }
    const Proposal done = std::move(outstanding_.front());
    outstanding_.pop_front();
    committed_ = done.transaction->zxid;
    for (auto& [number, follower] : followers_) {
      if (!follower.forwarding) continue;
      PeerPacket packet(PeerPacket::Kind::commit);
      packet.zxid = committed_;
      follower.connection->send_down(std::move(packet));
    }
    server_.apply_until(committed_);
    for (const TransactionPtr& error : done.errors) server_.apply(*error);
    for (const auto& [connection, request] : done.syncs) answer_sync(*connection, request);
  }
}

void LeaderRole::applied(const Transaction& transaction) {
  preparer_.applied(transaction.zxid);
  if (transaction.kind == Transaction::Kind::close_session) sessions_.remove(transaction.request->session);
}

}  // namespace zkrecipes::simulation
