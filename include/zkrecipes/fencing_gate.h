// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>

#include "zkrecipes/fencing_token.h"

namespace zkrecipes {

/// For the service that owns the resource which a lock guards: lets through whoever holds the newest token seen so far.
/// Check and write must be one step: call admit() under the lock, or in the transaction, that also covers the write.
///
/// One gate guards one resource under one exclusive lock (FairMutex, SimpleLock, RecursiveFairMutex, the write side of
/// ReadWriteLock). Readers and semaphore permits hold at the same time with different tokens: a gate would shut out all
/// but the newest of them.
///
/// Thread-safe. Its memory ends with the process: a service that restarts must reset() it to the highest token it has
/// stored with the data.
class FencingGate {
 public:
  /// False when a newer token was seen; else remembers this one. False for the empty token, which nobody holds.
  bool admit(FencingToken token);
  FencingToken highest() const noexcept;
  /// After a start, or after a restore of the ensemble from an older state, when tokens begin lower again.
  void reset(FencingToken token);

 private:
  mutable std::mutex mutex_;
  FencingToken highest_;  // guarded by mutex_
};

}  // namespace zkrecipes
