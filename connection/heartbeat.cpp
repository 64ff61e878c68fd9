// SPDX-License-Identifier: Apache-2.0
#include "connection/heartbeat.h"

#include <algorithm>

namespace zkrecipes::detail {

HeartbeatPlan::Id HeartbeatPlan::add(const std::string& path, NodeRole role, std::int64_t czxid,
                                     std::function<void()> gone) {
  const Id id = next_++;
  probes_.emplace(id, Probe{path, czxid, std::move(gone)});
  if (role == NodeRole::holds) held_.insert(held_.end(), id);
  return id;
}

void HeartbeatPlan::remove(Id id) {
  probes_.erase(id);
  held_.erase(id);
}

bool HeartbeatPlan::is_same(Id id, std::int64_t czxid) const {
  const auto found = probes_.find(id);
  return found == probes_.end() || found->second.czxid == 0 || found->second.czxid == czxid;
}

std::function<void()> HeartbeatPlan::take(Id id) {
  const auto found = probes_.find(id);
  if (found == probes_.end()) return nullptr;
  std::function<void()> gone = std::move(found->second.gone);
  remove(id);
  return gone;
}

void HeartbeatPlan::clear() {
  probes_.clear();
  held_.clear();
}

std::optional<HeartbeatPlan::Target> HeartbeatPlan::next_target() {
  if (held_.empty()) return std::nullopt;
  auto turn = held_.upper_bound(last_target_);
  if (turn == held_.end()) turn = held_.begin();
  last_target_ = *turn;
  const Probe& probe = probes_.at(*turn);
  return Target{*turn, probe.path, probe.czxid == 0};
}

std::vector<std::pair<HeartbeatPlan::Id, std::string>> HeartbeatPlan::next_batch(Id asked) {
  std::vector<std::pair<Id, std::string>> batch;
  auto probe = probes_.upper_bound(last_asked_);
  for (std::size_t n = std::min(kBatch, probes_.size()); n > 0; --n, ++probe) {
    if (probe == probes_.end()) probe = probes_.begin();
    last_asked_ = probe->first;
    if (probe->first != asked) batch.emplace_back(probe->first, probe->second.path);
  }
  return batch;
}

}  // namespace zkrecipes::detail
