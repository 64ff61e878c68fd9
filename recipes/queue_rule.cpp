// SPDX-License-Identifier: Apache-2.0
#include "recipes/queue_rule.h"

#include <algorithm>
#include <utility>

namespace zkrecipes::recipes {

namespace {

bool blocks(const NodeName& ahead, NodeKind waiter) {
  return waiter == NodeKind::read ? ahead.kind != NodeKind::read : true;
}

bool any_overflow(const std::vector<NodeName>& queue) {
  return std::any_of(queue.begin(), queue.end(), [](const NodeName& node) { return node.sequence < 0; });
}

}  // namespace

std::vector<NodeName> in_queue_order(const std::vector<std::string>& children) {
  std::vector<NodeName> queue;
  queue.reserve(children.size());
  for (const std::string& child : children)
    if (auto node = parse_node_name(child)) queue.push_back(std::move(*node));
  std::sort(queue.begin(), queue.end(), [](const NodeName& a, const NodeName& b) {
    // A writer that downgrades has, for a moment, a write and a read node of one number; the order between them is
    // then nobody's business but must be the same for everybody.
    return a.sequence != b.sequence ? a.sequence < b.sequence : a.name < b.name;
  });
  return queue;
}

Verdict judge(const std::vector<std::string>& children, const std::string& mine, NodeKind kind,
              const std::string& guid) {
  Verdict verdict;
  const std::vector<NodeName> queue = in_queue_order(children);
  const auto me = std::find_if(queue.begin(), queue.end(), [&](const NodeName& node) { return node.name == mine; });
  if (any_overflow(queue)) {
    verdict.kind = Verdict::Kind::overflow;
    return verdict;
  }
  for (const NodeName& node : queue)
    if (node.name != mine && !guid.empty() && node.name.find(guid) != std::string::npos)
      verdict.strays.push_back(node.name);
  if (me == queue.end()) return verdict;
  for (auto node = queue.begin(); node != me; ++node) {
    if (!blocks(*node, kind)) continue;
    ++verdict.ahead;
    verdict.watch = node->name;
  }
  verdict.kind = verdict.ahead == 0 ? Verdict::Kind::holds : Verdict::Kind::waits;
  return verdict;
}

bool would_wait(const std::vector<std::string>& children, NodeKind kind) {
  const std::vector<NodeName> queue = in_queue_order(children);
  return std::any_of(queue.begin(), queue.end(), [&](const NodeName& node) { return blocks(node, kind); });
}

}  // namespace zkrecipes::recipes
