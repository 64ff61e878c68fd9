// SPDX-License-Identifier: Apache-2.0
#include "connection/heartbeat.h"

#include <algorithm>

namespace zkrecipes::connection {

HeartbeatPlan::Id HeartbeatPlan::add(const std::string& path, std::function<void()> gone, std::int64_t czxid) {
  const Id id = next_++;
  probes_.emplace(id, Probe{path, std::move(gone), czxid});
  return id;
}

bool HeartbeatPlan::is_same(Id id, std::int64_t czxid) const {
  const auto found = probes_.find(id);
  return found == probes_.end() || found->second.czxid == 0 || found->second.czxid == czxid;
}

std::function<void()> HeartbeatPlan::take(Id id) {
  const auto found = probes_.find(id);
  if (found == probes_.end()) return nullptr;
  std::function<void()> gone = std::move(found->second.gone);
  probes_.erase(found);
  return gone;
}

std::vector<std::pair<HeartbeatPlan::Id, std::string>> HeartbeatPlan::next_batch() {
  std::vector<std::pair<Id, std::string>> batch;
  auto probe = probes_.upper_bound(last_asked_);
  for (std::size_t n = std::min(kBatch, probes_.size()); n > 0; --n, ++probe) {
    if (probe == probes_.end()) probe = probes_.begin();
    batch.emplace_back(probe->first, probe->second.path);
    last_asked_ = probe->first;
  }
  return batch;
}

}  // namespace zkrecipes::connection
