// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/model/client_connection.h"

#include <utility>

#include "tests/simulation/model/server.h"

namespace zkrecipes::simulation {

ClientConnection::ClientConnection(Network& network, ConnectionId number, int of_process, Server& at_server,
                                   Client& client, const Link& to_server, const Link& to_client,
                                   const EnsembleOptions& options)
    : id(number),
      process(of_process),
      server(at_server),
      up_(network, to_server, *this, options.least_client_delay, options.most_client_delay),
      down_(network, to_client, downstream_, options.least_client_delay, options.most_client_delay) {
  downstream_.client = &client;
}

void ClientConnection::close_client(bool lose_requests) {
  if (!client_open()) return;
  downstream_.client = nullptr;
  down_.clear();
  if (lose_requests) up_.clear();
  if (!server_open) return;
  UpPacket packet;
  packet.kind = UpPacket::Kind::closed;
  up_.send(std::move(packet));
}

void ClientConnection::abandon() {
  DownPacket packet;
  packet.kind = DownPacket::Kind::closed;
  if (client_open()) downstream_.client->receive(std::move(packet));
}

void ClientConnection::lose_replies() {
  UpPacket last;
  last.kind = UpPacket::Kind::closed;
  up_.send(std::move(last));
  down_.clear();
  DownPacket packet;
  packet.kind = DownPacket::Kind::closed;
  down_.send(std::move(packet));
}

bool ClientConnection::ready() {
  return !server.is_paused();
}

void ClientConnection::receive(UpPacket packet) {
  if (server_open) server.on_packet(*this, packet);
}

}  // namespace zkrecipes::simulation
