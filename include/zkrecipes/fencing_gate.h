// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>

#include "zkrecipes/fencing_token.h"

namespace zkrecipes {

/// Admits a write if no newer token was seen before. For the service that owns the resource which a lock guards.
///
///     std::lock_guard<std::mutex> guard(data_mutex);      // covers the check and the write
///     if (!gate.admit(request.token)) return refuse(gate.highest());
///     data = request.data;
///
/// Check and write must be one step: call admit() under the lock, or in the transaction, that also covers the write.
///
/// One gate guards one resource under one exclusive lock (FairMutex, SimpleLock, RecursiveFairMutex, the write side of
/// ReadWriteLock and RecursiveReadWriteLock). Readers and semaphore permits hold at the same time with different
/// tokens: a gate would shut out all but the newest of them. ReadWriteLock::fencing_token_shared() says what to do with
/// a reader's.
///
/// Thread-safe; never blocks on I/O; throws nothing. The gate forgets when the process ends: a service that restarts
/// must reset() it to the highest token that it has stored with the data.
class FencingGate {
 public:
  /// Returns false when a newer token was seen; else remembers this one. Returns false for the empty token, which
  /// belongs to no hold.
  bool admit(FencingToken token);
  FencingToken highest() const noexcept;
  /// Call it after a start, or after a restore of the ensemble from an older state, when tokens begin lower again.
  void reset(FencingToken token);

 private:
  mutable std::mutex mutex_;
  FencingToken highest_;  // guarded by mutex_
};

}  // namespace zkrecipes
