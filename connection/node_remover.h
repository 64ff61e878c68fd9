// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "connection/request_sender.h"

namespace zkrecipes::connection {

/// Removes a node for certain: lost replies and outages are sat out, with pauses that grow, until the node is gone
/// (ok), its session is over and so the server removes it (session_over), or the server refuses for good.
void remove_for_certain(RequestSender& sender, const SessionPtr& session, std::string path,
                        std::function<void(Status)> done);

}  // namespace zkrecipes::connection
