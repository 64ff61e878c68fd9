// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "bench/driver/driver.h"

namespace bench {

std::unique_ptr<Workload> lock_and_unlock(const DriverOptions& options);
std::unique_ptr<Workload> acquire_and_release(const DriverOptions& options);  ///< the release confirmed
std::unique_ptr<Workload> read_lock(const DriverOptions& options);
std::unique_ptr<Workload> semaphore_permit(const DriverOptions& options);
std::unique_ptr<Workload> reentry(const DriverOptions& options);

}  // namespace bench
