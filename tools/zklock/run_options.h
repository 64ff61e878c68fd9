// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>
#include <zkrecipes/connection_options.h>

#include "tools/zklock/guardian_protocol.h"

namespace zklock {

struct RunOptions {
  enum class Kind { exclusive, shared, semaphore, simple };

  std::string path;
  std::vector<std::string> command;
  Kind kind = Kind::exclusive;
  int permits = 1;                                ///< of a semaphore
  std::optional<std::chrono::milliseconds> wait;  ///< zero: only try; none: for ever
  int conflict_code = 1;
  std::optional<std::chrono::milliseconds> limit;
  std::chrono::milliseconds hold_at_least{0};
  OnLost on_lost = OnLost::term;
  std::optional<std::chrono::milliseconds> kill_after;
  std::string note;
  zkrecipes::ConnectionOptions connection;
};

/// None: the help was printed. `words`: what follows "run". Throws Failure.
std::optional<RunOptions> parse_run_options(const std::vector<std::string>& words);

}  // namespace zklock
