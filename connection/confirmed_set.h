// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "connection/request_sender.h"

namespace zkrecipes::detail {

/// Writes `data` if the node's version is `version` (-1: whatever it is). After a lost reply it reads the node: data
/// and version tell whether the write was applied, so `data` with an expected version must be unique to the writer.
void set_confirmed(RequestSender& sender, const SessionPtr& session, std::string path, std::string data,
                   std::int32_t version, ReplyHandler done);

}  // namespace zkrecipes::detail
