// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "zkrecipes/connection_options.h"

namespace zkrecipes::detail {

/// Whether a connection of its own with these options can have an identity that the server knows.
bool authenticates(const ConnectionOptions& options);

/// Throws std::invalid_argument if no node can be made with this ACL. `name`: of the option, for the message.
/// `authenticated`: the connection has, or may have, an identity that the server knows.
void check_acl(const Acl& acl, const std::string& name, bool authenticated);

}  // namespace zkrecipes::detail
