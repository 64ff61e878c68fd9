// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace zkrecipes::detail {

enum class NodeKind { lock, read, write, lease };

/// "_c_<guid>-lock-" and so on: Curator's protected names, to which the server adds the sequence number.
std::string protected_name(const std::string& guid, NodeKind kind);

/// For the nth node of an attempt that makes several: the guid with n added to its last group. 0: the guid itself.
std::string nth_guid(std::string guid, int n);

/// What the names of all nodes of one attempt begin with, whichever their nth_guid(); empty if the name has no guid.
std::string_view attempt_in(std::string_view name);

/// Whether protected_name() of this guid made the name.
bool is_protected_by(std::string_view name, std::string_view guid);

/// What a child of a lock path says about itself, be it ours or a peer's. Refers to the text it was parsed from.
struct NodeName {
  std::string_view name;
  NodeKind kind = NodeKind::lock;
  std::int64_t sequence = 0;  ///< negative: the parent's counter has overflowed
  std::string_view digits;    ///< the sequence as it was written
};

/// None for a name that no lock recipe makes. Knows Curator, go-zookeeper, kazoo (both kinds) and ZooKeeper's own lock
/// recipe.
std::optional<NodeName> parse_node_name(std::string_view name);

}  // namespace zkrecipes::detail
