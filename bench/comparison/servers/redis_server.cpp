// SPDX-License-Identifier: Apache-2.0
#include "bench/comparison/servers/redis_server.h"

#include <chrono>
#include <stdexcept>
#include <thread>

#include "bench/comparison/locks/redis_session.h"

namespace comparison {
namespace {

constexpr std::chrono::seconds kPatience{20};

ServerProcess::Settings settings(const std::string& replica_of) {
  ServerProcess::Settings settings;
  settings.name = "Redis";
  const std::string program = RedisServer::program();
  settings.command = [program, replica_of](int port, const std::filesystem::path& folder) {
    std::vector<std::string> command{
        program,  "--bind", "127.0.0.1",    "--port", std::to_string(port),         "--dir", folder,
        "--save", "",       "--appendonly", "no",     "--repl-diskless-sync-delay", "0"};
    const std::size_t colon = replica_of.rfind(':');
    if (colon != std::string::npos)
      command.insert(command.end(), {"--replicaof", replica_of.substr(0, colon) + " " + replica_of.substr(colon + 1)});
    return command;
  };
  settings.answers = [](const std::string& endpoint) {
    try {
      return RedisSession(endpoint).command({"PING"}).has_value();
    } catch (const std::runtime_error&) {  // refuses while it loads what its primary sends
      return false;
    }
  };
  return settings;
}

}  // namespace

std::string RedisServer::program() {
  return find_program("redis-server", "redis-server");
}

RedisServer::RedisServer(const std::string& replica_of) : process_(settings(replica_of)) {
  process_.start();
}

void RedisServer::await_link_to_primary(bool up) const {
  const std::string wanted = std::string("master_link_status:") + (up ? "up" : "down");
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  RedisSession session(endpoint());
  for (;;) {
    const auto reply = session.command({"INFO", "replication"});
    if (reply && reply->text.find(wanted) != std::string::npos) return;
    if (std::chrono::steady_clock::now() >= deadline) throw std::runtime_error("a Redis replica never has " + wanted);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

void RedisServer::promote() const {
  if (!RedisSession(endpoint()).command({"REPLICAOF", "NO", "ONE"}))
    throw std::runtime_error("a Redis replica cannot be promoted");
}

}  // namespace comparison
