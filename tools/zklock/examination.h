// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>
#include <zkrecipes/connection_options.h>

#include "tools/zklock/exit_codes.h"
#include "tools/zklock/server_status.h"

namespace zklock {

struct Latency {
  double min = 0, median = 0, max = 0;  ///< milliseconds
};

/// What doctor has found out. Empty: not known, because something before it failed.
struct Findings {
  std::vector<ServerStatus> servers;
  bool connected = false;
  double connect_ms = 0;
  std::string session;
  std::chrono::milliseconds asked{};
  std::chrono::milliseconds negotiated{};
  std::optional<std::chrono::milliseconds> smallest_timeout, largest_timeout;
  std::optional<Latency> reads, locks;
  std::optional<double> clock_ahead_ms;  ///< of the servers' clock
  double clock_error_ms = 0;
  std::optional<bool> containers;
  std::vector<std::string> problems;  ///< sentences; something does not work
  ExitCode status = kSuccess;         ///< of the first problem
  std::vector<std::string> warnings;  ///< sentences; it works, but
};

/// Connects, makes nodes directly below `where`, and removes them again.
Findings examine(const zkrecipes::ConnectionOptions& options, const std::string& where);

}  // namespace zklock
