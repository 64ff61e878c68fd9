// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "connection/client.h"
#include "connection/request_sender.h"

namespace zkrecipes::connection {

/// Makes the node of `spec` exactly once. After a lost reply it looks for the guid (behind a sync, since the session
/// may have moved to a server that lags behind) and takes a node only if the current session owns it; one that an
/// earlier session left is removed.
void create_protected(RequestSender& sender, const SessionPtr& session, CreateSpec spec, Client::CreateHandler done);

}  // namespace zkrecipes::connection
