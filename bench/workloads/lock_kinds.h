// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>
#include <zkrecipes/lock_options.h>
#include <zkrecipes/observer.h>

#include "bench/driver/driver.h"

namespace bench {

/// Our locks that a workload can be run with, for option --lock; a FairMutex without options first. "simple" is known
/// to the hand-over only. "observed" is a FairMutex of a connection with Prometheus metrics, known to "lock" only.
std::vector<std::string> lock_kinds();

bool is_simple(const DriverOptions& options);
/// Of the connection; null for all but "observed".
std::shared_ptr<zkrecipes::Observer> observer(const DriverOptions& options);
zkrecipes::LockOptions lock_options(const DriverOptions& options);
/// Of a lock that stays with its object between the rounds of a benchmark.
zkrecipes::LockOptions retaining();

}  // namespace bench
