// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "connection/client.h"
#include "recipes/bounded_call.h"
#include "recipes/node_name.h"
#include "zkrecipes/contenders.h"
#include "zkrecipes/error.h"

namespace zkrecipes::detail {

/// Reads lock paths and their nodes, on the caller's thread, which waits for each answer. A session lost on the way is
/// waited out. Answers are ok or no_node; all others are thrown as errors.
class LockReader {
 public:
  /// Throws what BoundedCall does. `what`: "contenders of ", for messages.
  LockReader(Connection& connection, const std::string& path, const char* what, Clock::time_point deadline,
             std::optional<std::chrono::milliseconds> answer_limit = std::nullopt);

  const BoundedCall& call() const { return call_; }

  /// May also be not_authorized.
  Reply try_list(const std::string& path) const;
  Reply list(const std::string& path) const;
  /// Without the data where they may not be read: the rest needs no permission.
  Reply get(const std::string& path) const;
  /// As get() for each, in this order, with many requests under way at a time: a long line over a slow network would
  /// take a round trip for each contender otherwise.
  std::vector<Reply> get_all(const std::vector<std::string>& paths) const;
  /// As get(), but not older than what was committed when it was asked for.
  Reply get_synced(const std::string& path) const;

 private:
  using Read = void (Client::*)(const SessionPtr&, const std::string&, ReplyHandler);
  Reply read(Read how, const std::string& path, const char* wanted, bool synced = false) const;
  /// Replaces those of the replies that have this status.
  void read_all(Read how, const std::vector<std::string>& paths, Status which, std::vector<Reply>& replies) const;

  const BoundedCall call_;
};

/// The folder of a semaphore's path with the places in line. On its own it says nothing: any lock may have this name.
constexpr std::string_view kLineFolder = "locks";

/// Whether these children of a folder named kLeaseFolder make its parent the path of a semaphore: all are leases, or
/// there are none. Other programs may give their folders that name, too.
bool are_leases(const NameList& children);

/// The leases that are held, in queue order, given those of the folder `leases` and the names in the folder `line`. The
/// client at the head of the line has made its leases, too, and does not hold them yet. List the leases first: a client
/// that comes to the head in between has none among them. Refers to `leases`.
std::vector<NodeName> held_leases(const LockReader& reader, const std::string& lock_path, const NameList& leases,
                                  const NameList& line);

/// Whether the node is ephemeral and known to be made by a lock recipe: by its name; or, as a SimpleLock's node can
/// have any name, by the guid in its data or by a revocation request that has overwritten it. Other programs have
/// ephemeral nodes, too.
bool is_lock_node(std::string_view path, const Reply& node);
/// The node has data that may not be read, so a SimpleLock's node cannot be told from others.
bool is_unreadable(const Reply& node);
/// Why is_lock_node() is false.
Error not_a_lock_node(const std::string& path, const Reply& node);
/// Throws unless is_lock_node(); NotAuthorized if that cannot be known.
void check_lock_node(const LockReader& reader, const std::string& path, const Reply& node);

/// The token of the hold that a lock node stands for.
FencingToken token_of(const Reply& node, NodeKind kind);

}  // namespace zkrecipes::detail
