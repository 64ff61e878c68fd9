// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zkrecipes/connection.h"
#include "zkrecipes/stop_token.h"

namespace zkrecipes {

/// How long to wait for a lock, at most.
///
///     zkrecipes::AcquireOptions options;
///     options.deadline = zkrecipes::deadline_after(std::chrono::seconds(5));
///     options.stop = stop_source.token();
struct AcquireOptions {
  /// A deadline that is over makes the acquire a try: it never queues, and it ends at once (not_connected) when there
  /// is no connection, also on a new Connection that is still being connected.
  Clock::time_point deadline = Clock::time_point::max();
  StopToken stop;
};

}  // namespace zkrecipes
