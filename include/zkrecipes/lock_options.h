// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

namespace zkrecipes {

struct LockOptions {
  /// Also count the holds of this lock in 32 bits (FencingToken::version). Costs one more round trip per acquire and
  /// makes the lock path a persistent node. All users of the path must agree on it: who uses a missing path without it
  /// makes a container of it, which cannot be told from a persistent node, but goes when it is empty, and the count
  /// with it.
  bool version_token = false;

  /// Called on the thread of on_ready() when another client asks for the lock back (request_revoke(), or Curator's
  /// Revoker), with the node of the hold. What to do about it is up to the program. Costs one more request per hold.
  std::function<void(const std::string& node)> on_revoke;
};

}  // namespace zkrecipes
