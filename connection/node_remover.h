// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "connection/request_sender.h"

namespace zkrecipes::connection {

/// Removes a node for certain: lost replies and outages are sat out, with pauses that grow, until the node is gone
/// (ok), its session is over and so the server removes it (session_over), or the server refuses for good.
/// With a guid, a node is only removed again after a lost reply if its data carries the guid and the session owns it.
void remove_for_certain(RequestSender& sender, const SessionPtr& session, std::string path, std::string guid_in_data,
                        std::function<void(Status)> done);

/// The same where it is not known whether the path still leads to our node: looks before the first attempt, too.
void remove_if_ours(RequestSender& sender, const SessionPtr& session, std::string path, std::string guid_in_data,
                    std::function<void(Status)> done);

}  // namespace zkrecipes::connection
