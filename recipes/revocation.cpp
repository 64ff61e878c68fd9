// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/revocation.h"

#include <memory>

#include "connection/client.h"
#include "recipes/lock_error.h"
#include "recipes/node_data.h"
#include "recipes/waiting_call.h"

namespace zkrecipes {

using connection::Reply;
using connection::SessionPtr;
using connection::Status;

namespace {

/// One attempt. The data are read first, because the request must keep what the holder recognises its node by; the
/// expected version makes sure that they have not changed since. The sync is for a server that lags behind and would
/// not show a new node.
void write_request(const std::shared_ptr<connection::Client>& client, const SessionPtr& session,
                   const std::string& node, const recipes::WaitingCall<Status>& call) {
  client->sync(session, node, nullptr);
  client->get(session, node, [client, session, node, call](const Reply& found) {
    if (found.status != Status::ok) return call.deliver(found.status);
    client->set(session, node, recipes::revoke_request_for(found.data), found.stat.version,
                [call](const Reply& written) { call.deliver(written.status); });
  });
}

}  // namespace

void request_revoke(Connection& connection, const std::string& node) {
  connection::check_node_path(node);
  const auto client = client_of(connection);
  client->check_may_block();
  for (;;) {
    const recipes::WaitingCall<Status> call;
    client->await_session([call, client, node](Status status, const SessionPtr& session) {
      if (status != Status::ok) return call.deliver(status);
      write_request(client, session, node, call);
    });
    const Status status = call.wait();
    if (status == Status::ok) return;
    if (status == Status::session_over || status == Status::bad_version) continue;
    if (status == Status::no_node) throw Error(ErrorCode::not_held, "nobody holds lock node " + node + " any more");
    std::rethrow_exception(recipes::lock_error(status, node, *client));
  }
}

}  // namespace zkrecipes
