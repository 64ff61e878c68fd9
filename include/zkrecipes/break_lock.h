// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "zkrecipes/connection.h"
#include "zkrecipes/deadline.h"
#include "zkrecipes/fencing_token.h"

namespace zkrecipes {

/// Takes the lock away from a holder, or the place in line from a waiter, by removing its node (Contender::node): for
/// an operator, when the client hangs and its session lives on. Ask first, with request_revoke(). Does nothing unless
/// the node is the one with this token (Contender::token), so a look that is out of date breaks nobody else's hold.
///
/// A holder of this library loses its hold and is notified through Hold::on_lost(), with its next heartbeat; until then
/// it believes to hold. A waiter of this library queues again. So the resource should check fencing tokens.
///
/// Blocks until the node is gone, through outages, or until the deadline, a time of any clock. Needs the permission to
/// delete children of the folder of the node. Throws std::invalid_argument if `node` is no absolute node path,
/// Error(not_held) if there is no such node, Error(wrong_token) if it has another token, Error(unusable_path) if it is
/// no lock node, as for request_revoke(), ConnectionClosed, NotAuthorized (also if only the data, which may not be
/// read, could tell whether it is one), Error(timed_out), or Error when the server refuses for good. Nothing was
/// changed then, except that after a time-out the node may be removed yet.
///
/// The name of a contender's node is used once, except for SimpleLock, where all holders use the path itself. ZooKeeper
/// cannot compare a token when it removes. So if the holder of a SimpleLock leaves and another client is granted the
/// lock within the one round trip between the comparison and the removal, that client loses its hold instead.
///
///     for (const zkrecipes::Contender& each : zkrecipes::contenders(connection, "/locks/orders"))
///       if (each.identity == "host7:4711") zkrecipes::break_lock(connection, each.node, each.token);
void break_lock(Connection& connection, const std::string& node, const FencingToken& token,
                Clock::time_point deadline = Clock::time_point::max());

template <class OtherClock, class Duration>
void break_lock(Connection& connection, const std::string& node, const FencingToken& token,
                const std::chrono::time_point<OtherClock, Duration>& deadline) {
  break_lock(connection, node, token, to_deadline(deadline));
}

/// Removes a lock path that nobody uses. The server removes such nodes by itself after a while (they are containers),
/// so this is for those that want it now, and for paths that were made as persistent nodes by others. Contenders that
/// arrive at the same time are not disturbed: either the path is in use, or they make it again.
///
/// Returns true when the path is gone, also if there was none; false if it has children. The empty folders `locks` and
/// `leases` of a semaphore are no children in this sense: they are removed first. Throws Error(unusable_path) for a
/// node that has data or is ephemeral: that is in use, or another program's, or counts holds
/// (LockOptions::version_token). The text with which a semaphore marks its folder does not count as data. Otherwise as
/// break_lock().
bool remove_empty_lock(Connection& connection, const std::string& path,
                       Clock::time_point deadline = Clock::time_point::max());

template <class OtherClock, class Duration>
bool remove_empty_lock(Connection& connection, const std::string& path,
                       const std::chrono::time_point<OtherClock, Duration>& deadline) {
  return remove_empty_lock(connection, path, to_deadline(deadline));
}

}  // namespace zkrecipes
