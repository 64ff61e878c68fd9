// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace examples {

/// Prints one whole line, from any thread: seconds since the first line, `who`, `what`.
void say(const std::string& who, const std::string& what);

}  // namespace examples
