// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "connection/mutex.h"

namespace zkrecipes::detail {

/// Which node of a session belongs to a contender, at paths that several contenders of the session use. Thread-safe.
///
/// A create whose reply was lost looks at the node there. If the session owns the node and nobody has claimed it, one
/// of the lost creates has made it, and it does not matter which: the first contender that claims it has it. The guid
/// in the node's data does not decide that: somebody who asked the node before it to be given up may have overwritten
/// the data, because every new node begins with the same version.
class NodeClaims {
 public:
  /// False if another contender has claimed this very node, or a later one at the path: then this one is gone.
  bool claim(const std::string& path, std::int64_t czxid) {
    MutexLock lock(mutex_);
    std::int64_t& claimed = claimed_[path];
    if (czxid <= claimed) return false;
    claimed = czxid;
    return true;
  }

 private:
  Mutex mutex_;
  std::map<std::string, std::int64_t> claimed_ ZKR_GUARDED_BY(mutex_);  // path -> newest czxid
};

}  // namespace zkrecipes::detail
