// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "connection/client.h"
#include "connection/mutex.h"

namespace zkrecipes::detail {

/// On a handle that belongs to the program, the session does not end with our connection or with our lease, so nodes
/// that we leave behind would stay. This remembers them; it does nothing when the session is ours. Thread-safe.
class BorrowedNodes {
 public:
  explicit BorrowedNodes(bool borrowed) : borrowed_(borrowed) {}

  /// A create that may reach the server: in doubt until one of the next two, however its session ends.
  void begun(const CreateSpec& spec);
  void created(const CreateSpec& spec, const CreatedNode& node);
  void not_created(const CreateSpec& spec);
  /// `czxid`: of the node that was removed, where others use the same path.
  void removed(const std::string& path, std::int64_t czxid);

  struct Node {
    std::string path;
    std::int64_t czxid;  ///< 0: the name is ours alone
  };
  struct Doubt {
    std::string parent;
    std::string name;
    std::string guid;
    GuidPlace guid_place;
  };
  struct Leftovers {
    std::vector<Node> nodes;
    std::vector<Doubt> in_doubt;
    bool empty() const { return nodes.empty() && in_doubt.empty(); }
  };
  Leftovers take();

 private:
  const bool borrowed_;
  Mutex mutex_;
  std::map<std::string, std::int64_t> nodes_ ZKR_GUARDED_BY(mutex_);  // path -> czxid where it is shared, or 0
  std::map<std::string, Doubt> in_doubt_ ZKR_GUARDED_BY(mutex_);      // by guid
};

}  // namespace zkrecipes::detail
