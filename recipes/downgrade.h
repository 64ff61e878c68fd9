// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "connection/client.h"
#include "recipes/hold.h"
#include "zkrecipes/lock_options.h"

namespace zkrecipes::detail {

/// Puts a read node in the place of a valid write hold. `options`: of the lock. `done` gets ok and the read hold, which
/// the write hold is to be released for, or no_node if the write node was deleted by somebody else in the meantime.
void downgrade(const std::shared_ptr<HeldNode>& write, const LockOptions& options,
               std::function<void(Status, std::shared_ptr<HeldNode>)> done);

}  // namespace zkrecipes::detail
