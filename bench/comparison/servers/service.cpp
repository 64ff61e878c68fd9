// SPDX-License-Identifier: Apache-2.0
#include "bench/comparison/servers/service.h"

#include <array>
#include <stdexcept>
#include <utility>

#include "bench/comparison/servers/etcd_server.h"
#include "bench/comparison/servers/postgres_server.h"
#include "bench/comparison/servers/redis_server.h"
#include "examples/support/embedded_server.h"
#include "examples/support/relay.h"

namespace comparison {
namespace {

/// One server that crashes and is restarted with its data.
template <class Server>
class RestartedServer : public Service {
 public:
  std::string endpoints() const override { return server_.endpoint(); }
  std::string fail() override {
    server_.crash_and_restart();
    return "restarted";
  }

 private:
  Server server_;
};

class Zookeeper : public Service {
 public:
  std::string endpoints() const override { return server_.address(); }
  std::string fail() override {
    server_.crash_and_restart();
    return "restarted";
  }
  std::optional<long> requests_received() override { return server_.packets_received(); }

 private:
  examples::EmbeddedServer server_;
};

class ForeignZookeeper : public Service {
 public:
  explicit ForeignZookeeper(std::string servers) : servers_(std::move(servers)) {}
  std::string endpoints() const override { return servers_; }
  bool prepare_failure() override { return false; }
  std::string fail() override { throw std::logic_error("not ours to break"); }

 private:
  const std::string servers_;
};

/// A primary and its replica, to which it sends what it has already promised to its clients. The line between them is
/// cut before the lock is taken; then the primary dies, and the replica is promoted.
class RedisPair : public Service {
 public:
  RedisPair() { replica_.await_link_to_primary(true); }
  std::string endpoints() const override { return promoted_ ? replica_.endpoint() : primary_.endpoint(); }
  bool prepare_failure() override {
    line_.cut();
    replica_.await_link_to_primary(false);
    return true;
  }
  std::string fail() override {
    primary_.crash();
    replica_.promote();
    promoted_ = true;
    return "replica promoted";
  }

 private:
  RedisServer primary_;
  examples::Relay line_{primary_.endpoint()};
  RedisServer replica_{line_.address()};
  bool promoted_ = false;
};

/// Five independent servers. A majority of them crashes and is restarted without data, as Redis is unless it
/// writes every change to disk before it answers.
class RedisFive : public Service {
 public:
  std::string endpoints() const override {
    std::string list;
    for (const RedisServer& server : servers_) list += (list.empty() ? "" : ",") + server.endpoint();
    return list;
  }
  std::string fail() override {
    for (std::size_t i = 0; i <= servers_.size() / 2; ++i) servers_[i].restart();
    return "3 of 5 restarted";
  }

 private:
  std::array<RedisServer, 5> servers_;
};

bool is_postgres(const Design& design) {
  return design.key.rfind("pg-", 0) == 0;
}

bool is_redis(const Design& design) {
  return design.key.rfind("red", 0) == 0;
}

}  // namespace

void check_programs(const Design& design) {
  if (is_postgres(design)) PostgresServer::program();
  if (is_redis(design)) RedisServer::program();
  if (design.key == "etcd") EtcdServer::program();
}

std::unique_ptr<Service> start_service(const Design& design, const std::string& zookeeper_servers) {
  if (is_postgres(design)) return std::make_unique<RestartedServer<PostgresServer>>();
  if (design.key == "redlock") return std::make_unique<RedisFive>();
  if (is_redis(design)) return std::make_unique<RedisPair>();
  if (design.key == "etcd") return std::make_unique<RestartedServer<EtcdServer>>();
  if (!zookeeper_servers.empty()) return std::make_unique<ForeignZookeeper>(zookeeper_servers);
  return std::make_unique<Zookeeper>();
}

}  // namespace comparison
