// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "connection/request_sender.h"

namespace zkrecipes::detail {

/// Removes the node of whichever session, if it is still the one with this czxid, and its data have this version (-1:
/// any): ok when that node is gone, no_node if there was none to begin with, bad_version if another node stood there,
/// or other data. Lost replies and outages are sat out.
///
/// The server cannot compare a czxid when it removes, so the node is looked at first, behind a sync and on the
/// connection that the removal is then sent on. Where a name is used again, as a SimpleLock's is, a node that takes the
/// place of the other within this round trip is removed in its stead.
void remove_exactly(RequestSender& sender, const SessionPtr& session, std::string path, std::int64_t czxid,
                    std::int32_t version, std::function<void(Status)> done);

}  // namespace zkrecipes::detail
