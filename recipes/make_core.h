// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "recipes/lock_core.h"
#include "recipes/node_name.h"
#include "recipes/semaphore_core.h"
#include "zkrecipes/lock_options.h"

namespace zkrecipes::detail {

// Each throws std::invalid_argument if the path is no absolute node path, or if the options are bad.

/// The core of a recipe whose contenders stand in the queue at `path` as `kind`.
std::unique_ptr<LockCore> make_queue_core(const std::shared_ptr<Client>& client, const std::string& path, NodeKind kind,
                                          const LockOptions& options);
std::unique_ptr<SemaphoreCore> make_semaphore_core(const std::shared_ptr<Client>& client, const std::string& path,
                                                   int permits, const LockOptions& options);
std::unique_ptr<LockCore> make_simple_core(const std::shared_ptr<Client>& client, const std::string& path,
                                           const LockOptions& options);

}  // namespace zkrecipes::detail
