// SPDX-License-Identifier: Apache-2.0
#include "connection/guid_search.h"

#include <string_view>
#include <utility>

#include "connection/node_path.h"
#include "connection/synced_read.h"

namespace zkrecipes::detail {

std::vector<std::string> carrying(const std::string& guid, const std::string& parent, const NameList& listing) {
  std::vector<std::string> paths;
  for (const std::string_view child : listing)
    if (child.find(guid) != std::string_view::npos) paths.push_back(join(parent, child));
  return paths;
}

void find_by_guid(RequestSender& sender, const SessionPtr& session, const std::string& parent, const std::string& guid,
                  std::function<void(const GuidSearch&)> done) {
  read_synced(sender, session, {RequestKind::list, parent}, [parent, guid, done = std::move(done)](const Reply& reply) {
    done({reply.status, carrying(guid, parent, reply.children), reply.connection});
  });
}

}  // namespace zkrecipes::detail
