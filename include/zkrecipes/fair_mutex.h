// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "zkrecipes/connection.h"
#include "zkrecipes/exclusive_lock.h"
#include "zkrecipes/lock_options.h"

namespace zkrecipes {

/// A mutex between processes that serves contenders in order of arrival, threads of one process included.
///
/// Each contender makes an ephemeral sequential node under `path` and watches only the one ahead of it, so a release
/// wakes one waiter, not all. Costs one round trip when the lock is free. Compatible with Curator's InterProcessMutex
/// on the same path.
///
/// Thread-safety, lifetime, blocking and errors: see ExclusiveLock. A path that a Semaphore or a SimpleLock uses
/// is refused with Error(unusable_path).
///
///     zkrecipes::Connection connection("zk1:2181,zk2:2181,zk3:2181");
///     zkrecipes::FairMutex mutex(connection, "/locks/report");
///     zkrecipes::Hold hold = mutex.acquire();  // released by the destructor of hold
///     if (hold.is_valid()) write_report(hold.token());
class FairMutex : public ExclusiveLock {
 public:
  /// Does no I/O. Throws std::invalid_argument if the path is no absolute node path.
  FairMutex(Connection& connection, const std::string& path, const LockOptions& options = {});
};

}  // namespace zkrecipes
