// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>

#include "connection/handle.h"
#include "tests/simulation/model/network.h"
#include "tests/simulation/model/transaction.h"

namespace zkrecipes::simulation {

class Server;

/// From a client to a server.
struct UpPacket {
  enum class Kind { connect, request, closed } kind = Kind::request;
  ClientRequestPtr request;    // of request
  detail::SessionKey session;  // of connect; id 0: a new one
  std::int32_t timeout_ms = 0;
  std::int64_t last_zxid = 0;  // the last one that the client has seen
};

/// From a server to a client.
struct DownPacket {
  enum class Kind { refused, established, session_gone, reply, event, pong, closed } kind = Kind::reply;
  std::unique_ptr<detail::Reply> reply;  // of reply; of event, with the path
  bool answered = true;                  // of reply
  detail::WatchEvent event{};
  std::uint64_t number = 0;    // of reply: the request's
  std::int64_t zxid = 0;       // the last one that the server had applied
  detail::SessionKey session;  // of established
  std::int32_t timeout_ms = 0;
};

/// A TCP connection of a client with a server, with what both ends know of it.
class ClientConnection final : private PacketReceiver<UpPacket> {
 public:
  using Client = PacketReceiver<DownPacket>;

  ClientConnection(Network& network, ConnectionId number, int of_process, Server& at_server, Client& client,
                   const Link& to_server, const Link& to_client, const EnsembleOptions& options);

  const ConnectionId id;
  const int process;
  Server& server;

  bool client_open() const { return downstream_.client != nullptr; }
  bool over() const { return !client_open() && !server_open; }

  void send_up(UpPacket packet, Time after = {}) { up_.send(std::move(packet), after); }
  void send_down(DownPacket packet) {
    if (client_open()) down_.send(std::move(packet));
  }
  void pump_down() { down_.pump(); }
  void forget_up() { up_.clear(); }
  void forget_down() { down_.clear(); }
  /// The client's process, or its library, has closed the socket.
  void close_client(bool lose_requests);
  /// The client's process is dead.
  void abandon();
  /// The client sees a reset as soon as it can; the server still gets what was sent to it, and then a reset, too.
  void lose_replies();

  // ---- What the server knows ----
  bool server_open = true;
  bool established = false;
  std::int64_t session = 0;
  std::int32_t timeout_ms = 0;
  Time last_heard{};
  /// Requests that wait for a commit or for the leader, and those behind them.
  std::deque<ClientRequestPtr> waiting;

 private:
  struct Downstream final : PacketReceiver<DownPacket> {
    bool ready() override { return client == nullptr || client->ready(); }
    void receive(DownPacket packet) override {
      if (client != nullptr) client->receive(std::move(packet));
    }
    Client* client = nullptr;  // null once it is closed
  };
  bool ready() override;
  void receive(UpPacket packet) override;

  Downstream downstream_;
  Pipe<UpPacket> up_;
  Pipe<DownPacket> down_;
};

}  // namespace zkrecipes::simulation
