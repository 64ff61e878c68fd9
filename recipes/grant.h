// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "connection/client.h"
#include "recipes/node_name.h"
#include "recipes/observed_attempt.h"
#include "zkrecipes/hold.h"

namespace zkrecipes::detail {

class RetainedNode;

/// What a grant consists of.
struct Grant {
  std::shared_ptr<Client> client;
  SessionPtr session;
  std::string node;
  /// The hold is gone with any of these, too: the leases beside `node` of a hold with several permits.
  std::vector<std::string> more_nodes;
  NodeKind kind = NodeKind::lock;
  std::int64_t shared_czxid = 0;  ///< of a node whose name is not unique; 0: the name is unique
  FencingToken token;
  AcquisitionCost cost;
  std::function<void(const std::string&)> on_revoke;
  /// Called when the node is lost, in place of a line in the log; null for the hold of a program.
  std::function<void(LossReason)> on_loss;
  /// Called when somebody asks for the lock back, ahead of on_revoke, which is called only if this returns true; null
  /// for the hold of a program.
  std::function<bool()> on_revoke_asked;
  /// Owns the node, watches over it and decides whether a release removes it; null: the hold itself does.
  std::shared_ptr<RetainedNode> retained;
  /// What the observer hears of the hold; null: nothing.
  ObservedAttemptPtr observed;
};

}  // namespace zkrecipes::detail
