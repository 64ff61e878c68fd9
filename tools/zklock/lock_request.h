// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <zkrecipes/zkrecipes.h>

#include "tools/zklock/guardian.h"
#include "tools/zklock/run_options.h"
#include "tools/zklock/session.h"

namespace zklock {

/// Waits for a lock of the kind that the options name, and tells the person at the terminal what it waits for.
class LockRequest {
 public:
  /// Throws Failure(kUnusablePath) if the path is none.
  LockRequest(Session& session, const RunOptions& options);

  /// None: in use, or not free by the deadline. Throws Interrupted, leaving the queue; Failure(kUnreachable) if there
  /// is no connection at the end, or of the guardian if it was killed; zkrecipes::Error.
  std::optional<zkrecipes::Hold> acquire(const Signals& signals, Guardian& guardian, Clock::time_point deadline);

 private:
  zkrecipes::PendingHold begin(const zkrecipes::AcquireOptions& options);
  void report_wait();

  Session& session_;
  const RunOptions& options_;
  // one of them, by options_.kind
  std::unique_ptr<zkrecipes::FairMutex> exclusive_;
  std::unique_ptr<zkrecipes::ReadWriteLock> shared_;
  std::unique_ptr<zkrecipes::Semaphore> semaphore_;
  std::unique_ptr<zkrecipes::SimpleLock> simple_;
};

}  // namespace zklock
