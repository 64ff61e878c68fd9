// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "zkrecipes/connection.h"
#include "zkrecipes/contenders.h"
#include "zkrecipes/deadline.h"

namespace zkrecipes {

/// A path at which a recipe of this library, of Curator or of another client has nodes.
struct FoundLock {
  std::string path;
  /// Readers and writers say what they are; a path with others is a mutex.
  LockKind kind = LockKind::mutex;
  std::size_t holders = 0;
  std::size_t waiters = 0;
};

struct FoundLocks {
  std::vector<FoundLock> locks;         ///< in the order of their paths
  std::vector<std::string> unreadable;  ///< nodes that may not be listed; what is below them is not known
  bool complete = true;                 ///< false: there are more nodes than FindLimits permits
};

struct FindLimits {
  std::size_t nodes = 10'000;  ///< how many nodes to look at, lock nodes not counted
  /// How long to wait for a single answer, outages included; Error(timed_out) when it is over. Without it only the
  /// deadline of the whole search counts, which is hard to choose for a large tree.
  std::optional<std::chrono::milliseconds> answer{};
};

/// Finds the locks at and below a path: those with holders or waiters, and semaphores. A lock path that nobody uses is
/// a node like any other and cannot be told from one. A SimpleLock of this library is recognised by its data, so other
/// ephemeral nodes are not taken for locks; where the data may not be read it is not found.
///
/// The result is a snapshot: nodes may be created and removed while it is taken. For a semaphore, `holders` are the
/// permits held; the client at the head of the line counts as a waiter only, as in contenders(). ZooKeeper's own node
/// "/zookeeper" is left out.
///
/// Blocks until the server has answered, through outages, or until the deadline, a time of any clock; about one request
/// per node, one after the other; for a semaphore two, and one for each lease while a client of Curator is at the head
/// of its line. Throws std::invalid_argument if the path is no absolute node path or no node may be looked at,
/// ConnectionClosed, Error(timed_out), or Error when the server refuses for good.
///
///     for (const zkrecipes::FoundLock& each : zkrecipes::find_locks(connection, "/locks").locks)
///       std::cout << each.path << ": " << each.waiters << " wait\n";
FoundLocks find_locks(Connection& connection, const std::string& prefix, const FindLimits& limits = {},
                      Clock::time_point deadline = Clock::time_point::max());

template <class OtherClock, class Duration>
FoundLocks find_locks(Connection& connection, const std::string& prefix, const FindLimits& limits,
                      const std::chrono::time_point<OtherClock, Duration>& deadline) {
  return find_locks(connection, prefix, limits, to_deadline(deadline));
}

}  // namespace zkrecipes
