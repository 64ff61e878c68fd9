// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace herd_effect {

/// The counters of the servers themselves since they started, read by the four-letter word "mntr". A server that does
/// not allow it (4lw.commands.whitelist) is asked "srvr", which counts packets only: the others are then -1.
struct ServerCounters {
  long packets_received = -1;
  long packets_sent = -1;
  long bytes_received = -1;
  long bytes_sent = -1;
  long watches = -1;          ///< set at this moment
  long deletion_events = -1;  ///< watch events because a node was deleted
};

/// The sum over all servers of the list; empty if one does not answer either word.
std::optional<ServerCounters> read_counters(const std::string& servers);

}  // namespace herd_effect
