// SPDX-License-Identifier: Apache-2.0
#include "examples/herd_effect/server_counters.h"

#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <map>
#include <sstream>
#include <vector>

namespace herd_effect {
namespace {

/// The lines of an answer as name and number, whether "name<tab>number" (mntr) or "Name: number" (srvr).
std::map<std::string, long> ask(const std::string& host, const std::string& port, const std::string& word) {
  std::map<std::string, long> values;
  boost::asio::ip::tcp::iostream server;
  server.expires_after(std::chrono::seconds(5));
  server.connect(host, port);
  server << word << std::flush;
  for (std::string line; std::getline(server, line);) {
    std::istringstream words(line);
    std::string name;
    long value = 0;
    if (words >> name >> value) values[name] = value;
  }
  return values;
}

void add(long& sum, const std::map<std::string, long>& values, const char* name) {
  const auto found = values.find(name);
  if (found != values.end()) sum = (sum < 0 ? 0 : sum) + found->second;
}

}  // namespace

std::optional<ServerCounters> read_counters(const std::string& servers) {
  ServerCounters sum;
  std::istringstream list(servers.substr(0, servers.find('/')));
  for (std::string server; std::getline(list, server, ',');) {
    const std::size_t colon = server.rfind(':');
    const std::string host = server.substr(0, colon);
    const std::string port = colon == std::string::npos ? "2181" : server.substr(colon + 1);
    auto values = ask(host, port, "mntr");
    if (values.empty()) values = ask(host, port, "srvr");
    if (values.empty()) return std::nullopt;
    add(sum.packets_received, values, "zk_packets_received");
    add(sum.packets_received, values, "Received:");
    add(sum.packets_sent, values, "zk_packets_sent");
    add(sum.packets_sent, values, "Sent:");
    add(sum.bytes_received, values, "zk_bytes_received_count");
    add(sum.bytes_sent, values, "zk_response_bytes");
    add(sum.watches, values, "zk_watch_count");
    add(sum.deletion_events, values, "zk_sum_node_deleted_watch_count");
  }
  return sum;
}

}  // namespace herd_effect
