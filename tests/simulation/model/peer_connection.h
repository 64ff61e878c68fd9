// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "tests/simulation/model/data_tree.h"
#include "tests/simulation/model/network.h"
#include "tests/simulation/model/transaction.h"

namespace zkrecipes::simulation {

class Server;

/// Between a follower and its leader.
struct PeerPacket {
  enum class Kind {
    // from the follower
    follower_info,   // zxid: last applied; last_zxid: of its log; accepted_epoch, epoch
    epoch_ack,       // valid: it promises to follow no earlier leader; otherwise it has promised that before
    new_leader_ack,  // zxid: last of its log
    ack,             // zxid
    ping_reply,      // touches
    request,         // request
    revalidate,      // session, timeout
    // from the leader
    leader_info,  // epoch
    new_leader,   // epoch, sync
    up_to_date,   // zxid: committed
    proposal,     // transaction
    commit,       // zxid
    ping,
    revalidated,  // session, valid
    synced,       // request
    // from both
    closed,
  };
  /// What a follower needs to have the leader's log.
  struct Sync {
    std::unique_ptr<DataTree> snapshot;  // null: it has everything up to `from`
    std::int64_t from = 0;
    std::size_t history_count = 0;        // of the snapshot
    std::vector<TransactionPtr> entries;  // behind `from`
  };

  explicit PeerPacket(Kind of_kind) : kind(of_kind) {}

  Kind kind;
  bool valid = false;
  std::int32_t timeout_ms = 0;
  std::int64_t zxid = 0;
  std::int64_t last_zxid = 0;
  std::int64_t epoch = 0;
  std::int64_t accepted_epoch = 0;
  std::int64_t session = 0;
  TransactionPtr transaction;
  ClientRequestPtr request;
  std::unique_ptr<Sync> sync;
  std::vector<std::pair<std::int64_t, std::int32_t>> touches;  // sessions and their time-outs
};

/// A TCP connection that a follower has made to its leader. Not destroyed while one of its packets is delivered.
class PeerConnection {
 public:
  PeerConnection(Network& network, Server& follower, Server& leader, const Link& up, const Link& down,
                 const EnsembleOptions& options);

  Server& follower() const { return follower_.server; }
  Server& leader() const { return leader_.server; }

  void send_up(PeerPacket packet, Time after = {}) {
    if (leader_.open) up_.send(std::move(packet), after);
  }
  void send_down(PeerPacket packet) {
    if (follower_.open) down_.send(std::move(packet));
  }
  void pump() {
    up_.pump();
    down_.pump();
  }
  /// One side closes its socket. The other side is told, unless the link is silent.
  void close_follower();
  void close_leader();
  /// Both sides are told; what is under way is lost.
  void reset();
  bool over() const { return !follower_.open && !leader_.open; }

 private:
  struct Side final : PacketReceiver<PeerPacket> {
    Side(PeerConnection& of, Server& at) : connection(of), server(at) {}
    bool ready() override;
    void receive(PeerPacket packet) override;
    PeerConnection& connection;
    Server& server;
    bool open = true;
    bool leads = false;
  };

  const bool acks_ahead_of_disk_;
  Side follower_;
  Side leader_;
  Pipe<PeerPacket> up_;
  Pipe<PeerPacket> down_;
};

}  // namespace zkrecipes::simulation
