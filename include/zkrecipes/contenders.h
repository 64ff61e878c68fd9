// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "zkrecipes/connection.h"
#include "zkrecipes/deadline.h"
#include "zkrecipes/fencing_token.h"

namespace zkrecipes {

/// Which recipe a lock uses. A recursive lock is of the kind of the lock that it makes recursive.
enum class LockKind { mutex, read_write, semaphore, simple };

const char* to_string(LockKind kind) noexcept;
std::ostream& operator<<(std::ostream& out, LockKind kind);

enum class LockMode { exclusive, read, write, permit };

const char* to_string(LockMode mode) noexcept;

/// A client that holds a lock or waits for it, of any client library.
struct Contender {
  std::string node;
  /// What the client wrote about itself. Empty when a revocation request has overwritten it, and when the ACL of the
  /// node does not permit to read it.
  std::string identity;
  std::string note;  ///< LockOptions::note of a client of this library; empty for the same reasons
  std::int64_t session = 0;
  FencingToken token;
  std::chrono::system_clock::time_point since;  ///< by the server's clock
  LockMode mode = LockMode::exclusive;
  bool holds = false;
  bool asked_to_release = false;  ///< by a revocation request, which has overwritten identity and note
};

/// Lists the holders and the waiters at a lock path of any recipe, in queue order; empty if there are none. The list is
/// a snapshot: nodes may be created and removed while it is taken.
///
/// For a semaphore, the list starts with the leases, one for each permit held, followed by the line. The client at the
/// head of the line has made its leases already and waits until there are enough permits. It is listed once, as a
/// waiter, with its node in the line. For a moment after its grant this node is still there, so a client that has just
/// been granted permits may be shown as a waiter. Curator's clients give their leases names that say nothing; of those,
/// the newest lease of the session at the head of the line is the one that waits, and for the moment before the head
/// has made it, a lease that another thread of that client holds may be taken for it. A path is a semaphore's once it
/// has the folder "leases", which is made when the first client is at the head of the line.
///
/// If the client at the head hangs and its node in the line is removed with break_lock(), its leases stay, take permits
/// and are listed as held from then on.
///
/// Blocks until the server has answered, through outages, or until the deadline, a time of any clock. One request per
/// contender, many of them at a time, and a few more. Throws std::invalid_argument if the path is no absolute node
/// path, ConnectionClosed, NotAuthorized if the path may not be listed, Error(unusable_path) if it is the node of a
/// contender or one of the two folders of a semaphore instead of the path of a lock, or an ephemeral node of another
/// program, Error(timed_out), or Error when the server refuses for good. An ephemeral node whose data may not be read
/// is taken for a SimpleLock that is held. A path that ends with the name of such a folder, "leases" or "locks", costs
/// one request more.
///
///     for (const zkrecipes::Contender& each : zkrecipes::contenders(connection, "/locks/orders"))
///       std::cout << each.identity << (each.holds ? " holds\n" : " waits\n");
std::vector<Contender> contenders(Connection& connection, const std::string& path,
                                  Clock::time_point deadline = Clock::time_point::max());

template <class OtherClock, class Duration>
std::vector<Contender> contenders(Connection& connection, const std::string& path,
                                  const std::chrono::time_point<OtherClock, Duration>& deadline) {
  return contenders(connection, path, to_deadline(deadline));
}

/// What is at a lock path, for people: an empty list of contenders() does not say why it is empty.
struct LockListing {
  bool exists = false;  ///< false: there is no node at the path. The lock is free, unless the path or chroot is wrong
  std::vector<Contender> contenders;
  /// Children that are neither contenders nor folders of a semaphore: locks and other nodes below, or contenders of a
  /// recipe that is not known here.
  std::size_t not_understood = 0;
};

/// As contenders(), with what else was seen.
LockListing list_lock(Connection& connection, const std::string& path,
                      Clock::time_point deadline = Clock::time_point::max());

template <class OtherClock, class Duration>
LockListing list_lock(Connection& connection, const std::string& path,
                      const std::chrono::time_point<OtherClock, Duration>& deadline) {
  return list_lock(connection, path, to_deadline(deadline));
}

/// The client that a lock node (Contender::node, Hold::node()) belongs to, in one request. A node alone does not tell
/// whether its client holds the lock, so `holds` is false. Throws Error(not_held) if there is no such node, and
/// otherwise what request_revoke() does.
Contender owner_of(Connection& connection, const std::string& node,
                   Clock::time_point deadline = Clock::time_point::max());

template <class OtherClock, class Duration>
Contender owner_of(Connection& connection, const std::string& node,
                   const std::chrono::time_point<OtherClock, Duration>& deadline) {
  return owner_of(connection, node, to_deadline(deadline));
}

/// The client that holds the lock, or nothing if it is free. Of several readers, or holders of permits of a semaphore,
/// the first in queue order. As contenders(), but two requests however many wait; for a semaphore four, and one more
/// for each lease while a client of Curator is at the head of its line.
///
///     if (const auto by = zkrecipes::holder(connection, "/locks/orders"))
///       std::cout << "held by " << by->identity << ": " << by->note << "\n";
std::optional<Contender> holder(Connection& connection, const std::string& path,
                                Clock::time_point deadline = Clock::time_point::max());

template <class OtherClock, class Duration>
std::optional<Contender> holder(Connection& connection, const std::string& path,
                                const std::chrono::time_point<OtherClock, Duration>& deadline) {
  return holder(connection, path, to_deadline(deadline));
}

}  // namespace zkrecipes
