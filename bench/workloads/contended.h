// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "bench/driver/driver.h"

namespace bench {

/// `contenders` threads, each with its own connection, take one lock in turn. A cycle is one hand-over.
/// Figure: wakeups, the watch events that the waiters received.
std::unique_ptr<Workload> hand_over(const DriverOptions& options);

/// As many waiters as cycles stand in line over `contenders` connections; measured is how long the line takes to empty.
/// Figure: wakeups, as above.
std::unique_ptr<Workload> drain(const DriverOptions& options);

}  // namespace bench
