// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "recipes/lock_core.h"
#include "recipes/queue_ticket.h"

namespace zkrecipes::recipes {

/// The core of a recipe whose contenders stand in the queue at `path` as `kind`.
inline std::unique_ptr<LockCore> make_queue_core(const std::shared_ptr<connection::Client>& client,
                                                 const std::string& path, NodeKind kind, const LockOptions& options) {
  const auto spec = std::make_shared<const QueueSpec>(QueueSpec{path, kind, options});
  return std::make_unique<LockCore>(client, path, [client, spec](Patience patience) {
    return std::make_shared<QueueTicket>(client, spec, patience);
  });
}

}  // namespace zkrecipes::recipes
