// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace zkrecipes::detail {

struct HostPort {
  std::string host;  ///< a name or an address; IPv6 without brackets
  std::uint16_t port;

  friend bool operator==(const HostPort& a, const HostPort& b) { return a.host == b.host && a.port == b.port; }
};

/// "host:port,host:port/chroot", taken apart.
struct ServerList {
  std::vector<HostPort> hosts;
  std::string chroot;  ///< "" or an absolute path
};

/// Throws std::invalid_argument, naming the part that is wrong.
ServerList parse_server_list(const std::string& servers);

/// Addresses as the C client takes them ("10.0.0.1:2181", "::1:2181"), each once, names resolved now. Hosts that do not
/// resolve are left out and named in `problem`. May block as long as the resolver does.
std::vector<std::string> resolve(const std::vector<HostPort>& hosts, std::string& problem);

/// True when no name has to be looked up.
bool is_numeric(const std::vector<HostPort>& hosts);

}  // namespace zkrecipes::detail
