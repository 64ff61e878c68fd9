// SPDX-License-Identifier: Apache-2.0
#include "connection/server_list.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cctype>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <stdexcept>
#include <sys/socket.h>

#include "connection/node_path.h"

namespace zkrecipes::detail {

namespace {

constexpr std::uint16_t kDefaultPort = 2181;

[[noreturn]] void reject(const std::string& servers, const std::string& why) {
  throw std::invalid_argument("zkrecipes: server list \"" + servers + "\": " + why +
                              "; expected \"host:port,host:port/chroot\"");
}

std::uint16_t parse_port(const std::string& servers, const std::string& text) {
  const bool digits = !text.empty() && text.size() <= 5 && text.find_first_not_of("0123456789") == std::string::npos;
  const int port = digits ? std::stoi(text) : 0;
  if (port < 1 || port > 65535) reject(servers, "port \"" + text + "\" is not a number from 1 to 65535");
  return static_cast<std::uint16_t>(port);
}

void check_host(const std::string& servers, const std::string& host) {
  if (host.empty()) reject(servers, "a host is missing");
  for (const char c : host) {
    const bool fine = std::isalnum(static_cast<unsigned char>(c)) != 0 || std::strchr("-._:%", c) != nullptr;
    if (!fine) reject(servers, std::string("host \"") + host + "\" has a character that no host name has");
  }
}

HostPort parse_host(const std::string& servers, const std::string& text) {
  if (text.empty()) reject(servers, "an entry is empty");
  if (text.front() == '[') {
    const std::size_t close = text.find(']');
    if (close == std::string::npos) reject(servers, "\"[\" without \"]\"");
    const std::string host = text.substr(1, close - 1);
    in6_addr address{};
    if (inet_pton(AF_INET6, host.c_str(), &address) != 1) reject(servers, "\"" + host + "\" is not an IPv6 address");
    const std::string rest = text.substr(close + 1);
    if (rest.empty()) return {host, kDefaultPort};
    if (rest.front() != ':') reject(servers, "\"" + rest + "\" after \"]\"");
    return {host, parse_port(servers, rest.substr(1))};
  }
  const std::size_t colon = text.find(':');
  if (colon != text.rfind(':')) reject(servers, "write IPv6 addresses as \"[address]:port\"");
  const std::string host = text.substr(0, colon);
  check_host(servers, host);
  if (colon == std::string::npos) return {host, kDefaultPort};
  return {host, parse_port(servers, text.substr(colon + 1))};
}

bool is_numeric(const std::string& host) {
  in_addr v4{};
  in6_addr v6{};
  return inet_pton(AF_INET, host.c_str(), &v4) == 1 || inet_pton(AF_INET6, host.c_str(), &v6) == 1;
}

std::string trim(const std::string& text) {
  const char* const blanks = " \t";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

}  // namespace

ServerList parse_server_list(const std::string& servers) {
  ServerList result;
  if (trim(servers).empty()) reject(servers, "it is empty");
  const std::size_t slash = servers.find('/');
  const std::string hosts = servers.substr(0, slash);
  if (slash != std::string::npos) {
    const std::string chroot = trim(servers.substr(slash));
    try {
      check_node_path(chroot);
    } catch (const std::invalid_argument& error) {
      reject(servers, std::string("bad chroot: ") + error.what());
    }
    if (chroot != "/") result.chroot = chroot;
  }
  std::size_t begin = 0;
  for (;;) {
    const std::size_t comma = hosts.find(',', begin);
    result.hosts.push_back(parse_host(servers, trim(hosts.substr(begin, comma - begin))));
    if (comma == std::string::npos) return result;
    begin = comma + 1;
  }
}

std::vector<std::string> resolve(const std::vector<HostPort>& hosts, std::string& problem) {
  std::vector<std::string> addresses;
  const auto add = [&addresses](std::string address) {
    if (std::find(addresses.begin(), addresses.end(), address) == addresses.end())
      addresses.push_back(std::move(address));
  };
  for (const HostPort& entry : hosts) {
    if (is_numeric(entry.host)) {
      add(entry.host + ":" + std::to_string(entry.port));
      continue;
    }
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int rc = getaddrinfo(entry.host.c_str(), nullptr, &hints, &found);
    if (rc != 0) {
      problem += (problem.empty() ? "" : "; ") + entry.host + ": " + gai_strerror(rc);
      continue;
    }
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, &freeaddrinfo);
    for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
      char numeric[NI_MAXHOST];
      if (getnameinfo(each->ai_addr, each->ai_addrlen, numeric, sizeof numeric, nullptr, 0, NI_NUMERICHOST) != 0)
        continue;
      add(std::string(numeric) + ":" + std::to_string(entry.port));
    }
  }
  return addresses;
}

bool is_numeric(const std::vector<HostPort>& hosts) {
  return std::all_of(hosts.begin(), hosts.end(), [](const HostPort& entry) { return is_numeric(entry.host); });
}

}  // namespace zkrecipes::detail
