// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/simple_lock.h"

#include "recipes/make_core.h"

namespace zkrecipes {

SimpleLock::SimpleLock(Connection& connection, const std::string& path, const LockOptions& options)
    : ExclusiveLock(detail::make_simple_core(client_of(connection), path, options)) {}

}  // namespace zkrecipes
