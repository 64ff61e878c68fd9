// SPDX-License-Identifier: Apache-2.0
#include "examples/support/role.h"

#include <sstream>

#include "examples/support/options.h"

namespace examples {

bool play_role(const std::string& role, const std::map<std::string, std::function<void(std::istream&)>>& parts) {
  if (role.empty()) return false;
  std::istringstream words(role);
  std::string name;
  words >> name;
  const auto part = parts.find(name);
  if (part == parts.end()) throw UsageError("--role is for the program's own child processes");
  part->second(words);
  return true;
}

}  // namespace examples
