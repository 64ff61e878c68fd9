// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "bench/driver/driver.h"

namespace bench {

/// One connection retains a lock that it does not use; measured is only how long an acquire of another one takes.
std::unique_ptr<Workload> newcomer(const DriverOptions& options);

}  // namespace bench
