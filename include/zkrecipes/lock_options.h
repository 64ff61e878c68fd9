// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "zkrecipes/connection_options.h"

namespace zkrecipes {

/// Settings of one lock object, checked by its constructor, which throws std::invalid_argument: for a note that is too
/// long, and for an ACL that this connection cannot give to nodes (creator_all() without credentials).
struct LockOptions {
  /// Also count the holds of this lock in 32 bits (FencingToken::version). Costs one more round trip per acquire and
  /// makes the lock path a persistent node. All users of the path must agree on the option: a lock without it creates a
  /// missing path as a container. Clients cannot tell a container from a persistent node, but the server removes an
  /// empty container, and the count starts again at 0.
  bool version_token = false;

  /// Called where on_ready() is, on a thread of the connection or by its executor, when another client asks for the
  /// lock back (request_revoke(), or Curator's Revoker), with the node of the hold. The program may release the hold or
  /// ignore the request. Costs one more request per hold.
  std::function<void(const std::string& node)> on_revoke;

  /// For people: stored in the nodes of this lock beside the identity of the connection, and shown by contenders() as
  /// Contender::note ("order 4711, started by cron"). Any text of at most 64 KiB, line breaks included. A revocation
  /// request overwrites it.
  std::string note;

  /// The ACL of the nodes of this lock; default: ConnectionOptions::acl. Missing parents get
  /// ConnectionOptions::parent_acl.
  std::optional<Acl> acl;
};

}  // namespace zkrecipes
