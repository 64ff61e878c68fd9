// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "zkrecipes/connection.h"
#include "zkrecipes/exclusive_lock.h"
#include "zkrecipes/lock_options.h"

namespace zkrecipes {

/// The simplest lock on ZooKeeper: the contender that makes the ephemeral node at `path` holds the lock.
///
/// Not fair, and with a herd by design: all waiters watch that one node, so a release wakes all of them, and all but
/// one lose the race. Right for locks that are hardly ever contended (one node, one request); use FairMutex for others.
///
/// Thread-safety, lifetime, blocking and errors: see ExclusiveLock. A path at which there is a node that is not
/// ephemeral is refused with Error(unusable_path): it is the folder of another kind of lock, or somebody's data.
/// LockOptions::version_token, look_ahead and retain are not available here.
///
///     zkrecipes::Connection connection("zk1:2181,zk2:2181,zk3:2181");
///     zkrecipes::SimpleLock lock(connection, "/locks/nightly");
///     if (zkrecipes::AcquireResult hold = lock.try_acquire())
///       run_nightly_job(hold->token());  // no other process runs it now
class SimpleLock : public ExclusiveLock {
 public:
  /// Does no I/O. Throws std::invalid_argument if the path is no absolute node path, or with an option that is not
  /// available.
  SimpleLock(Connection& connection, const std::string& path, const LockOptions& options = {});
};

}  // namespace zkrecipes
