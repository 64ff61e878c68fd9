// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>

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
  /// How many paths without a node are remembered.
  static constexpr std::size_t kRemoved = 1000;

  /// False if another contender has claimed this very node, or a later one at the path: then this one is gone.
  bool claim(const std::string& path, std::int64_t czxid) {
    MutexLock lock(mutex_);
    std::int64_t& claimed = claimed_[path];
    if (czxid <= claimed) return false;
    claimed = czxid;
    return true;
  }

  /// The node is known to be gone. Its path is not forgotten at once: what another contender has read before may still
  /// be on its way through this process.
  void removed(const std::string& path, std::int64_t czxid) {
    MutexLock lock(mutex_);
    const auto found = claimed_.find(path);
    if (found == claimed_.end() || found->second != czxid) return;
    removed_.emplace_back(path, czxid);
    if (removed_.size() <= kRemoved) return;
    const auto oldest = claimed_.find(removed_.front().first);
    if (oldest != claimed_.end() && oldest->second == removed_.front().second) claimed_.erase(oldest);
    removed_.pop_front();
  }

  std::size_t size() const {
    MutexLock lock(mutex_);
    return claimed_.size();
  }

 private:
  mutable Mutex mutex_;
  std::map<std::string, std::int64_t> claimed_ ZKR_GUARDED_BY(mutex_);  // path -> newest czxid
  std::deque<std::pair<std::string, std::int64_t>> removed_ ZKR_GUARDED_BY(mutex_);
};

}  // namespace zkrecipes::detail
