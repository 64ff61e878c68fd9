// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace zkrecipes::detail {

/// A canonical lower-case random UUID. Not drawn twice, also not by parent and child of a fork.
std::string make_guid();

}  // namespace zkrecipes::detail
