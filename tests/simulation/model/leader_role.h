// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "tests/simulation/model/server.h"

namespace zkrecipes::simulation {

/// What a server does as leader, from its election until it steps down.
class LeaderRole {
 public:
  explicit LeaderRole(Server& server);

  void on_packet(PeerConnection& connection, PeerPacket packet);
  /// A write, or a follower's sync (`from` is its connection).
  void submit(const ClientRequestPtr& request, PeerConnection* from);
  bool touch(std::int64_t session, std::int32_t timeout_ms);
  SessionTracker::Check check_session(std::int64_t session);
  /// Takes up the session for this server.
  bool revalidate(std::int64_t session, std::int32_t timeout_ms);
  void applied(const Transaction& transaction);
  void close_followers();

  void tick();
  void expire_sessions();
  void check_containers();
  void give_up_unless_serving();
  void leader_flushed();

  const SessionTracker& sessions() const { return sessions_; }
  int supporters() const;

 private:
  struct Follower {
    PeerConnection* connection = nullptr;
    bool informed = false;     // of the epoch
    bool epoch_acked = false;  // has answered to that
    bool forwarding = false;   // gets proposals and commits
    bool synced = false;       // has acknowledged the leader's log
    std::int64_t applied_zxid = 0;
    std::int64_t accepted_epoch = 0;
    Time last_heard{};
    int deadline_tick = 0;
    Time oldest_unacked{};  // when the first proposal that it has not acknowledged was sent; 0: none
    std::int64_t oldest_unacked_zxid = 0;
    std::int64_t newest_sent_zxid = 0;
  };
  struct Proposal {
    TransactionPtr transaction;
    Time flushed{};          // at the leader
    std::uint32_t acks = 0;  // of followers, a bit each
    std::vector<std::pair<PeerConnection*, ClientRequestPtr>> syncs;
    std::vector<TransactionPtr> errors;  // with ModelMistake::failed_writes_take_no_zxid
  };

  std::int64_t now_ms() const;
  void choose_epoch();
  void establish_epoch();
  void send_log(Follower& follower);
  void begin_to_serve();
  void send_up_to_date(Follower& follower);
  void propose(const ClientRequestPtr& request);
  void try_commit();
  void drop(Follower& follower);
  Follower& follower(const PeerConnection& connection);
  void answer_sync(PeerConnection& connection, const ClientRequestPtr& request);

  Server& server_;
  Ensemble::Cluster& cluster_;
  std::map<int, Follower> followers_;
  std::int64_t epoch_ = 0;      // 0: not chosen yet
  std::uint32_t promises_ = 0;  // of followers, a bit each
  bool established_ = false;    // a quorum has promised to follow no earlier leader
  std::int64_t next_zxid_ = 0;
  std::int64_t committed_ = 0;
  std::deque<Proposal> outstanding_;
  bool flush_timer_ = false;
  RequestPreparer preparer_;
  SessionTracker sessions_;
  int tick_ = 0;
  bool skip_check_ = true;
};

}  // namespace zkrecipes::simulation
