// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "connection/borrowed_nodes.h"
#include "connection/request_sender.h"

namespace zkrecipes::detail {

/// Removes nodes of ours that live on although nobody holds or waits with them any more, and those whose creates were
/// never answered. `done` is called when all are gone or could not be removed.
void remove_leftovers(RequestSender& sender, const SessionPtr& session, const BorrowedNodes::Leftovers& leftovers,
                      std::function<void()> done);

}  // namespace zkrecipes::detail
