// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace bench {

/// The resources that this process has used so far, all threads together.
struct ProcessUsage {
  double cpu_seconds = 0;  ///< user and system
  long peak_rss_kb = 0;
};
ProcessUsage process_usage();

/// Resident now. Memory that the allocator could give back is given back first.
long settled_rss_kb();

}  // namespace bench
