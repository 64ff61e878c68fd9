// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace examples {

/// One whole line, whichever thread it comes from: seconds since the first line, who, what.
void say(const std::string& who, const std::string& what);

}  // namespace examples
