// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "zkrecipes/connection.h"
#include "zkrecipes/deadline.h"

namespace zkrecipes {

/// Asks the holder of a lock node (Hold::node(), Contender::node) to give the lock up, as Curator's Revoker does. The
/// holder is notified through LockOptions::on_revoke and may ignore the request.
///
/// Blocks until the request is written, through outages, or until the deadline, a time of any clock; does not wait for
/// the holder. Needs the permission to read and to write the node. Throws std::invalid_argument if `node` is no
/// absolute node path, Error(not_held) when there is no such node, Error(unusable_path) when it is no lock node,
/// ConnectionClosed, NotAuthorized, Error(timed_out), or Error when the server refuses for good. After a time-out the
/// request may have been written, or be written yet if it was already on its way.
///
/// A lock node is ephemeral, and has a name that a lock recipe makes or the data of a SimpleLock. The data of all other
/// nodes stay: those of the path of a lock, for example, and of the nodes with which other programs register
/// themselves.
///
///     for (const zkrecipes::Contender& each : zkrecipes::contenders(connection, "/locks/orders"))
///       if (each.holds) zkrecipes::request_revoke(connection, each.node);
void request_revoke(Connection& connection, const std::string& node,
                    Clock::time_point deadline = Clock::time_point::max());

template <class OtherClock, class Duration>
void request_revoke(Connection& connection, const std::string& node,
                    const std::chrono::time_point<OtherClock, Duration>& deadline) {
  request_revoke(connection, node, to_deadline(deadline));
}

}  // namespace zkrecipes
