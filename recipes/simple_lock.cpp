// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/simple_lock.h"

#include <stdexcept>

#include "recipes/make_core.h"

namespace zkrecipes {

namespace {

const LockOptions& checked(const LockOptions& options) {
  if (options.version_token)
    throw std::invalid_argument("zkrecipes: SimpleLock has no node that could count versions; use FairMutex");
  if (options.look_ahead)
    throw std::invalid_argument("zkrecipes: SimpleLock has no line to look ahead in; use FairMutex");
  return options;
}

}  // namespace

SimpleLock::SimpleLock(Connection& connection, const std::string& path, const LockOptions& options)
    : ExclusiveLock(detail::make_simple_core(client_of(connection), path, checked(options))) {}

}  // namespace zkrecipes
