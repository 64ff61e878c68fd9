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
};

/// Lists the holders and the waiters at a lock path of any recipe, in queue order; empty if there are none. The list is
/// a snapshot: nodes may be created and removed while it is taken.
///
/// For a semaphore, the list starts with the leases (permits held or just being granted), followed by the waiters. The
/// listing does not contain the number of permits, so `holds` is true for every lease. A path is a semaphore's once it
/// has the folder "leases", which is made when the first client is at the head of the line.
///
/// Blocks until the server has answered, through outages, or until the deadline, a time of any clock; one request per
/// contender and a few more. Throws std::invalid_argument if the path is no absolute node path, ConnectionClosed,
/// NotAuthorized if the path may not be listed, Error(unusable_path) if it is the node of a contender instead of the
/// path of a lock, or an ephemeral node of another program, Error(timed_out), or Error when the server refuses for
/// good. An ephemeral node whose data may not be read is taken for a SimpleLock that is held.
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

/// The client that holds the lock, or nothing if it is free. Of several readers, or holders of permits of a semaphore,
/// the first in queue order. As contenders(), but two requests (three for a semaphore) however many wait.
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
