// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "connection/request_sender.h"

namespace zkrecipes::detail {

/// A read that shows at least what was committed when it was asked for: sync and read are in flight together, one
/// attempt each. The answer counts only if the sync succeeded and both were answered on the same connection; otherwise
/// it is connection_loss, also where the read by itself said ok or no_node. Reply::connection tells the connection, for
/// a change that must reach the same server.
void read_synced(RequestSender& sender, const SessionPtr& session, Request read, ReplyHandler done);

}  // namespace zkrecipes::detail
