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

/// What is to be called when the node at a path was removed, and keeps what waits for the end of all.
struct Ending {
  std::shared_ptr<void> last;
  LeftoverHandler removed;  // may be null

  std::function<void(Status)> done() const {
    return [last = last](Status) {};
  }
  std::function<void()> removed_at(const std::string& path) const {
    if (!removed) return nullptr;
    return [removed = removed, path] { removed(path); };
  }
};

void remove_by_guid(RequestSender& sender, const SessionPtr& session, const BorrowedNodes::Doubt& doubt,
                    const Ending& ending) {
  find_by_guid(sender, session, doubt.parent, doubt.guid, [&sender, session, doubt, ending](const GuidSearch& search) {
    if (search.status == Status::connection_loss) {
      Backoff backoff(sender.retry_policy());
      return sender.run_after(backoff.next(sender.world().random()),
                              [&sender, session, doubt, ending] { remove_by_guid(sender, session, doubt, ending); });
    }
    for (const std::string& path : search.paths)
      remove_for_certain(sender, session, path, {}, ending.done(), ending.removed_at(path));
  });
}

}  // namespace

void remove_leftovers(RequestSender& sender, const SessionPtr& session, const BorrowedNodes::Leftovers& leftovers,
                      const LeftoverHandler& removed, std::function<void()> done) {
  Ending ending;
  // Calls `done` when the last one that refers to it is gone.
  ending.last = std::shared_ptr<void>(nullptr, [done = std::move(done)](void*) {
    if (done) done();
  });
  ending.removed = removed;
  for (const BorrowedNodes::Node& node : leftovers.nodes)
    remove_if_ours(sender, session, node.path, {node.czxid, {}}, ending.done(), ending.removed_at(node.path));
  for (const BorrowedNodes::Doubt& doubt : leftovers.in_doubt) {
    if (doubt.guid_place == GuidPlace::in_data) {
      const std::string path = join(doubt.parent, doubt.name);
      remove_if_ours(sender, session, path, {0, doubt.guid}, ending.done(), ending.removed_at(path));
      continue;
    }
    remove_by_guid(sender, session, doubt, ending);
  }
}

}  // namespace zkrecipes::detail
