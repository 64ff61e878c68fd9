// SPDX-License-Identifier: Apache-2.0
#include "connection/borrowed_nodes.h"

namespace zkrecipes::connection {

void BorrowedNodes::begun(const CreateSpec& spec) {
  if (!borrowed_) return;
  if (spec.mode == CreateMode::persistent || spec.mode == CreateMode::container) return;  // meant to stay
  std::lock_guard<std::mutex> lock(mutex_);
  in_doubt_.insert_or_assign(spec.guid, Doubt{spec.parent, spec.name, spec.guid, spec.guid_place});
}

void BorrowedNodes::created(const CreateSpec& spec, const std::string& path) {
  if (!borrowed_) return;
  std::lock_guard<std::mutex> lock(mutex_);
  if (in_doubt_.erase(spec.guid) == 0) return;
  nodes_.insert_or_assign(path, spec.guid_place == GuidPlace::in_data ? spec.guid : std::string());
}

void BorrowedNodes::not_created(const CreateSpec& spec) {
  if (!borrowed_) return;
  std::lock_guard<std::mutex> lock(mutex_);
  in_doubt_.erase(spec.guid);
}

void BorrowedNodes::removed(const std::string& path, const std::string& guid_in_data) {
  if (!borrowed_) return;
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = nodes_.find(path);
  if (found != nodes_.end() && found->second == guid_in_data) nodes_.erase(found);
}

BorrowedNodes::Leftovers BorrowedNodes::take() {
  Leftovers leftovers;
  if (!borrowed_) return leftovers;
  std::lock_guard<std::mutex> lock(mutex_);
  for (auto& [path, guid_in_data] : nodes_) leftovers.nodes.push_back({path, guid_in_data});
  for (auto& [guid, doubt] : in_doubt_) leftovers.in_doubt.push_back(doubt);
  nodes_.clear();
  in_doubt_.clear();
  return leftovers;
}

}  // namespace zkrecipes::connection
