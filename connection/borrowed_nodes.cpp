// SPDX-License-Identifier: Apache-2.0
#include "connection/borrowed_nodes.h"

namespace zkrecipes::detail {

void BorrowedNodes::begun(const CreateSpec& spec) {
  if (!borrowed_) return;
  if (spec.mode == CreateMode::persistent || spec.mode == CreateMode::container) return;  // meant to stay
  MutexLock lock(mutex_);
  in_doubt_.insert_or_assign(spec.guid, Doubt{spec.parent, spec.name, spec.guid, spec.guid_place});
}

void BorrowedNodes::created(const CreateSpec& spec, const CreatedNode& node) {
  if (!borrowed_) return;
  MutexLock lock(mutex_);
  if (in_doubt_.erase(spec.guid) == 0) return;
  nodes_.insert_or_assign(node.path, spec.guid_place == GuidPlace::in_data ? node.stat.czxid : 0);
}

void BorrowedNodes::not_created(const CreateSpec& spec) {
  if (!borrowed_) return;
  MutexLock lock(mutex_);
  in_doubt_.erase(spec.guid);
}

void BorrowedNodes::removed(const std::string& path, std::int64_t czxid) {
  if (!borrowed_) return;
  MutexLock lock(mutex_);
  const auto found = nodes_.find(path);
  if (found != nodes_.end() && found->second == czxid) nodes_.erase(found);
}

BorrowedNodes::Leftovers BorrowedNodes::take() {
  Leftovers leftovers;
  if (!borrowed_) return leftovers;
  MutexLock lock(mutex_);
  for (const auto& [path, czxid] : nodes_) leftovers.nodes.push_back({path, czxid});
  for (auto& [guid, doubt] : in_doubt_) leftovers.in_doubt.push_back(doubt);
  nodes_.clear();
  in_doubt_.clear();
  return leftovers;
}

}  // namespace zkrecipes::detail
