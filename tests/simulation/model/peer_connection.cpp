// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/model/peer_connection.h"

#include "tests/simulation/model/server.h"

namespace zkrecipes::simulation {

PeerConnection::PeerConnection(Network& network, Server& follower, Server& leader, const Link& up, const Link& down,
                               const EnsembleOptions& options)
    : acks_ahead_of_disk_(options.mistake == ModelMistake::acks_ahead_of_disk),
      follower_(*this, follower),
      leader_(*this, leader),
      up_(network, up, leader_, options.least_server_delay, options.most_server_delay),
      down_(network, down, follower_, options.least_server_delay, options.most_server_delay) {
  leader_.leads = true;
}

void PeerConnection::close_follower() {
  if (!follower_.open) return;
  follower_.open = false;
  down_.clear();
  if (!acks_ahead_of_disk_) up_.recall();  // acknowledgements of what is not on disk yet
  if (leader_.open) up_.send(PeerPacket(PeerPacket::Kind::closed));
}

void PeerConnection::close_leader() {
  if (!leader_.open) return;
  leader_.open = false;
  up_.clear();
  if (follower_.open) down_.send(PeerPacket(PeerPacket::Kind::closed));
}

void PeerConnection::reset() {
  up_.clear();
  down_.clear();
  if (leader_.open) up_.send(PeerPacket(PeerPacket::Kind::closed));
  if (follower_.open) down_.send(PeerPacket(PeerPacket::Kind::closed));
}

bool PeerConnection::Side::ready() {
  return !server.is_paused();
}

void PeerConnection::Side::receive(PeerPacket packet) {
  if (!open) return;
  if (leads)
    server.on_follower_packet(connection, std::move(packet));
  else
    server.on_leader_packet(connection, std::move(packet));
}

}  // namespace zkrecipes::simulation
