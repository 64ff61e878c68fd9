// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace zklock {

// Each is one command: takes the words behind its name, returns the exit status, and throws Failure or
// zkrecipes::Error.

int run(const std::vector<std::string>& words);
int ls(const std::vector<std::string>& words);
int tree(const std::vector<std::string>& words);
int revoke(const std::vector<std::string>& words);
int break_node(const std::vector<std::string>& words);
int check(const std::vector<std::string>& words);
int doctor(const std::vector<std::string>& words);

}  // namespace zklock
