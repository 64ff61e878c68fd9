// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace zkrecipes::connection {

/// On a handle that belongs to the program, the session does not end with our connection or with our lease, so nodes
/// that we leave behind would stay. This remembers them; it does nothing when the session is ours. Thread-safe.
class BorrowedNodes {
 public:
  explicit BorrowedNodes(bool borrowed) : borrowed_(borrowed) {}

  void created(const std::string& path);
  void removed(const std::string& path);
  /// A create whose reply will not be looked at any more.
  void in_doubt(const std::string& path);

  struct Leftovers {
    std::vector<std::string> nodes;
    std::vector<std::string> in_doubt;  ///< names may be followed by a sequence number
    bool empty() const { return nodes.empty() && in_doubt.empty(); }
  };
  Leftovers take();

 private:
  const bool borrowed_;
  std::mutex mutex_;
  std::set<std::string> nodes_;     // guarded by mutex_
  std::set<std::string> in_doubt_;  // guarded by mutex_
};

}  // namespace zkrecipes::connection
