// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/fair_mutex.h"

#include "recipes/make_core.h"

namespace zkrecipes {

FairMutex::FairMutex(Connection& connection, const std::string& path, const LockOptions& options)
    : ExclusiveLock(detail::make_queue_core(client_of(connection), path, detail::NodeKind::lock, options)) {}

}  // namespace zkrecipes
