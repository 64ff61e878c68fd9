// SPDX-License-Identifier: Apache-2.0
#include "connection/leftovers.h"

#include <memory>
#include <utility>

#include "connection/backoff.h"
#include "connection/guid_search.h"
#include "connection/node_path.h"
#include "connection/node_remover.h"

namespace zkrecipes::detail {

namespace {

/// Makes what is to be called when the node at a path is gone, or cannot be removed.
using MakeRemoved = std::function<std::function<void(Status)>(const std::string& path)>;

void remove_by_guid(RequestSender& sender, const SessionPtr& session, const BorrowedNodes::Doubt& doubt,
                    const MakeRemoved& removed) {
  find_by_guid(sender, session, doubt.parent, doubt.guid, [&sender, session, doubt, removed](const GuidSearch& search) {
    if (search.status == Status::connection_loss) {
      Backoff backoff(sender.retry_policy());
      return sender.run_after(backoff.next(sender.world().random()),
                              [&sender, session, doubt, removed] { remove_by_guid(sender, session, doubt, removed); });
    }
    for (const std::string& path : search.paths) remove_for_certain(sender, session, path, {}, removed(path));
  });
}

}  // namespace

void remove_leftovers(RequestSender& sender, const SessionPtr& session, const BorrowedNodes::Leftovers& leftovers,
                      const LeftoverHandler& removed, std::function<void()> done) {
  // Calls `done` when the last one that refers to it is gone.
  const std::shared_ptr<void> last(nullptr, [done = std::move(done)](void*) {
    if (done) done();
  });
  const MakeRemoved ended = [last, removed](const std::string& path) {
    return [last, removed, path](Status status) {
      if (status == Status::ok && removed) removed(path);
    };
  };
  for (const BorrowedNodes::Node& node : leftovers.nodes)
    remove_if_ours(sender, session, node.path, {node.czxid, {}}, ended(node.path));
  for (const BorrowedNodes::Doubt& doubt : leftovers.in_doubt) {
    if (doubt.guid_place == GuidPlace::in_data) {
      const std::string path = join(doubt.parent, doubt.name);
      remove_if_ours(sender, session, path, {0, doubt.guid}, ended(path));
      continue;
    }
    remove_by_guid(sender, session, doubt, ended);
  }
}

}  // namespace zkrecipes::detail
