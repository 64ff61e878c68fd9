// SPDX-License-Identifier: Apache-2.0
#include "bench/comparison/servers/etcd_server.h"

#include "bench/comparison/locks/etcd_client.h"
#include "bench/comparison/servers/free_port.h"

namespace comparison {
namespace {

ServerProcess::Settings settings() {
  ServerProcess::Settings settings;
  settings.name = "etcd";
  const std::string program = EtcdServer::program();
  // etcd cannot be configured not to listen for peers; the port stays the same, because it is part of the data.
  const std::string peers = "http://127.0.0.1:" + std::to_string(free_port());
  settings.command = [program, peers](int port, const std::filesystem::path& folder) {
    const std::string clients = "http://127.0.0.1:" + std::to_string(port);
    return std::vector<std::string>{program,         "--name",
                                    "only",          "--data-dir",
                                    folder / "data", "--listen-client-urls",
                                    clients,         "--advertise-client-urls",
                                    clients,         "--listen-peer-urls",
                                    peers,           "--initial-advertise-peer-urls",
                                    peers,           "--initial-cluster",
                                    "only=" + peers, "--logger",
                                    "zap",           "--log-level",
                                    "error"};
  };
  settings.answers = [](const std::string& endpoint) {
    // A read that needs the leader, and so the whole cluster.
    return EtcdClient(endpoint).post("kv/range", R"({"key": "AA=="})").has_value();
  };
  return settings;
}

}  // namespace

std::string EtcdServer::program() {
  return find_program("etcd", "etcd-server");
}

EtcdServer::EtcdServer() : process_(settings()) {
  process_.start();
}

}  // namespace comparison
