// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace zklock {

/// Throws Failure(kCommandNotFound) or Failure(kCannotBeExecuted), as far as that can be known without starting the
/// command. Looks where execvp() does.
void check_executable(const std::string& command);

/// The same for an error of execvp(), or of what comes before it; Failure(kFailure) if it is for lack of memory,
/// processes or descriptors.
[[noreturn]] void throw_not_started(const std::string& command, int error);

}  // namespace zklock
