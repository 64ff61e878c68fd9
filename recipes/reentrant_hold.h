// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "recipes/downgradable_hold.h"
#include "zkrecipes/hold.h"

namespace zkrecipes::detail {

/// What one thread has of a RecursiveReadWriteLock: how many times it has locked for writing and for reading, and the
/// one hold behind all of that. Decides which call needs a grant, which one only counts, which one ends the hold and
/// which one turns it into a read hold. Knows no threads and waits for nothing.
///
/// Not thread-safe; the hold itself is.
class ReentrantHold {
 public:
  enum class Entry {
    acquire,  ///< there is no hold: get one, then granted_write() or granted_read()
    counted,  ///< into the hold that there is, valid or not
    refused,  ///< write in read: it would wait for itself
  };
  Entry enter_write();
  Entry enter_read();
  void granted_write(Hold hold, LockOptions options);
  void granted_read(Hold hold);

  enum class Exit {
    not_inside,  ///< nothing has changed
    inside,      ///< as a writer or a reader; when the last write was left, the hold is downgraded
    over,        ///< the hold is to be released
  };
  Exit leave_write();
  Exit leave_read();

  int writes() const { return writes_; }
  int reads() const { return reads_; }
  /// Null before the grant.
  const std::shared_ptr<DowngradableHold>& hold() const { return hold_; }

 private:
  int writes_ = 0;
  int reads_ = 0;
  std::shared_ptr<DowngradableHold> hold_;
};

}  // namespace zkrecipes::detail
