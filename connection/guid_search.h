// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "connection/request_sender.h"

namespace zkrecipes::detail {

/// Which children of a node have a guid in their names.
struct GuidSearch {
  Status status = Status::ok;
  std::vector<std::string> paths;
  std::uint64_t connection = 0;  ///< the one that answered
};

/// The children among `listing` of `parent` whose names contain the guid, as full paths.
std::vector<std::string> carrying(const std::string& guid, const std::string& parent, const NameList& listing);

/// Looks behind a sync, once: a server that lags behind does not count.
void find_by_guid(RequestSender& sender, const SessionPtr& session, const std::string& parent, const std::string& guid,
                  std::function<void(const GuidSearch&)> done);

}  // namespace zkrecipes::detail
