// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <istream>
#include <map>
#include <string>

namespace examples {

/// For programs that are also their own child processes, started with a hidden option: its first word is the part to
/// play, the others are for that. False if it is empty. Throws UsageError if there is no such part.
bool play_role(const std::string& role, const std::map<std::string, std::function<void(std::istream&)>>& parts);

}  // namespace examples
