// SPDX-License-Identifier: Apache-2.0
#include "recipes/queue_rule.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace zkrecipes::detail {

namespace {

bool blocks(const NodeName& ahead, NodeKind waiter) {
  return waiter == NodeKind::read ? ahead.kind != NodeKind::read : true;
}

/// Whether a contender of this kind is first when `predecessor`, the last one ahead of it, is deleted.
bool deletion_proves_turn(const NodeName& predecessor, NodeKind waiter) {
  return waiter != NodeKind::read && predecessor.kind != NodeKind::write;
}

bool stands_before(const NodeName& a, const NodeName& b) {
  // A writer that downgrades has, for a moment, a write and a read node of one number; the order between them is then
  // nobody's business but must be the same for everybody.
  return a.sequence != b.sequence ? a.sequence < b.sequence : a.name < b.name;
}

}  // namespace

std::vector<NodeName> in_queue_order(const NameList& children) {
  std::vector<NodeName> queue;
  queue.reserve(children.size());
  for (const std::string_view child : children)
    if (const auto node = parse_node_name(child)) queue.push_back(*node);
  std::sort(queue.begin(), queue.end(), stands_before);
  return queue;
}

Verdict judge(const NameList& children, std::string_view mine, NodeKind kind, std::string_view guid) {
  // One pass without sorting or copying: with many waiters this is what a hand-over costs.
  Verdict verdict;
  const auto me = parse_node_name(mine);
  bool present = false;
  bool overflow = false;
  std::optional<NodeName> nearest;
  std::optional<NodeName> second;
  for (const std::string_view child : children) {
    const auto node = parse_node_name(child);
    if (!node) {
      verdict.beside_lease_folder = verdict.beside_lease_folder || child == kLeaseFolder;
      continue;
    }
    overflow = overflow || node->sequence < 0;
    if (node->name == mine) {
      present = true;
      continue;
    }
    verdict.alone = false;
    if (!guid.empty() && is_protected_by(child, guid)) verdict.strays.emplace_back(child);
    if (!me || !stands_before(*node, *me) || !blocks(*node, kind)) continue;
    ++verdict.ahead;
    if (!nearest || stands_before(*nearest, *node))
      second = std::exchange(nearest, node);
    else if (!second || stands_before(*second, *node))
      second = node;
  }
  if (overflow) {
    verdict.kind = Verdict::Kind::overflow;
  } else if (present) {
    verdict.kind = nearest ? Verdict::Kind::waits : Verdict::Kind::holds;
    if (nearest) {
      verdict.watch = std::string(nearest->name);
      if (deletion_proves_turn(*nearest, kind)) {
        verdict.proof_by_deletion = verdict.ahead == 1;
        if (second) verdict.look_past = std::string(second->name);
      }
    }
  }
  return verdict;
}

bool is_marked(const NodeStat& lease_folder) {
  return lease_folder.version > 0 && lease_folder.data_length == static_cast<std::int32_t>(kLeaseFolderMark.size());
}

bool is_mark_confirmed(const NodeStat& lease_folder) {
  return is_marked(lease_folder) && lease_folder.version > 1;
}

bool is_semaphores(const NameList& children, const NodeStat& lease_folder) {
  const auto is_lease = [](std::string_view child) {
    const auto node = parse_node_name(child);
    return node && node->kind == NodeKind::lease;
  };
  return is_marked(lease_folder) || std::any_of(children.begin(), children.end(), is_lease);
}

std::vector<std::string> queue_nodes(const NameList& children) {
  std::vector<std::string> nodes;
  for (const std::string_view child : children) {
    const auto node = parse_node_name(child);
    if (node && node->kind != NodeKind::lease) nodes.emplace_back(child);
  }
  return nodes;
}

std::vector<std::string> queue_nodes_without_semaphore(const NameList& children) {
  return children.contains(kLeaseFolder) ? std::vector<std::string>() : queue_nodes(children);
}

bool would_wait(const NameList& children, NodeKind kind) {
  return std::any_of(children.begin(), children.end(), [&](std::string_view child) {
    const auto node = parse_node_name(child);
    return node && blocks(*node, kind);
  });
}

}  // namespace zkrecipes::detail
