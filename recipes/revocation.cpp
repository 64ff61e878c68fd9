// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/revocation.h"

#include <atomic>
#include <memory>
#include <optional>

#include "connection/client.h"
#include "recipes/bounded_call.h"
#include "recipes/lock_reader.h"
#include "recipes/node_data.h"

namespace zkrecipes {

using detail::Reply;
using detail::SessionPtr;
using detail::Status;

namespace {

struct Outcome {
  Status status;
  std::optional<Reply> refused{};  ///< is no lock node, and nothing was written
};

/// One attempt. The data are read first, because the request must keep what the holder recognises its node by; the
/// expected version makes sure that they have not changed since. The sync is for a server that lags behind and would
/// not show a new node. Nothing is written once nobody waits for it any more.
class RevokeAttempt {
 public:
  RevokeAttempt() = default;
  ~RevokeAttempt() { *wanted_ = false; }
  RevokeAttempt(const RevokeAttempt&) = delete;
  RevokeAttempt& operator=(const RevokeAttempt&) = delete;

  Outcome run(const detail::BoundedCall& bounds, const std::string& node) const {
    const auto& client = bounds.client();
    const SessionPtr session = bounds.session();
    client->sync(session, node, nullptr);
    client->get(session, node,
                [client = client, session, node, wanted = wanted_, answer = answer_](const Reply& found) {
                  if (!*wanted) return;
                  if (found.status != Status::ok) return answer.deliver({found.status});
                  if (!detail::is_lock_node(node, found)) return answer.deliver({found.status, found});
                  client->set(session, node, detail::revoke_request_for(found.data), found.stat.version,
                              [answer](const Reply& written) { answer.deliver({written.status}); });
                });
    return bounds.wait(answer_, "an answer to the request");
  }

 private:
  const detail::WaitingCall<Outcome> answer_{};
  const std::shared_ptr<std::atomic<bool>> wanted_ = std::make_shared<std::atomic<bool>>(true);
};

}  // namespace

void request_revoke(Connection& connection, const std::string& node, Clock::time_point deadline) {
  const detail::BoundedCall bounds(client_of(connection), node, "revocation of " + node, deadline);
  for (;;) {
    const auto [status, refused] = RevokeAttempt().run(bounds, node);
    if (refused) throw detail::not_a_lock_node(node, *refused);
    if (status == Status::ok) return;
    if (status == Status::session_over || status == Status::bad_version) continue;
    if (status == Status::no_node) throw Error(ErrorCode::not_held, "nobody holds lock node " + node + " any more");
    bounds.fail(status);
  }
}

}  // namespace zkrecipes
