// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "connection/borrowed_nodes.h"
#include "connection/request_sender.h"

namespace zkrecipes::detail {

/// Removes nodes of ours that live on although nobody holds or waits with them any more, and those whose creates were
/// never answered. `removed` is called with the path of each one that this has removed; it may be null. `done` is
/// called when all are gone or could not be removed.
using LeftoverHandler = std::function<void(const std::string& path)>;
void remove_leftovers(RequestSender& sender, const SessionPtr& session, const BorrowedNodes::Leftovers& leftovers,
                      const LeftoverHandler& removed, std::function<void()> done);

}  // namespace zkrecipes::detail
