// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "zkrecipes/connection.h"

namespace zkrecipes {

/// Asks the holder of a lock node (Hold::node(), Contender::node) to give the lock up, as Curator's Revoker does. The
/// holder is told through LockOptions::on_revoke and may ignore it. Throws Error(not_held) when there is no such node.
void request_revoke(Connection& connection, const std::string& node);

}  // namespace zkrecipes
