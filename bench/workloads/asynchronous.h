// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "bench/driver/driver.h"

namespace bench {

/// One thread asks for as many different locks as there are cycles, all at once; each is released when it is had.
/// Over when the server has confirmed the last release.
std::unique_ptr<Workload> many_locks(const DriverOptions& options);

/// As many waiting acquire_async as there are cycles, over `contenders` connections and locks that somebody holds.
/// Figures: bytes_per_wait while they wait, peak_bytes_per_wait also while they came.
std::unique_ptr<Workload> waiting(const DriverOptions& options);

}  // namespace bench
