// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/revocation.h"

#include "connection/client.h"
#include "recipes/lock_error.h"
#include "recipes/waiting_call.h"

namespace zkrecipes {

using connection::Status;

void request_revoke(Connection& connection, const std::string& node) {
  connection::check_node_path(node);
  const auto client = client_of(connection);
  client->check_may_block();
  for (;;) {
    const recipes::WaitingCall<Status> call;
    client->await_session([call, client, node](Status status, const connection::SessionPtr& session) {
      if (status != Status::ok) return call.deliver(status);
      client->set(session, node, "__REVOKE__", -1,
                  [call](const connection::Reply& reply) { call.deliver(reply.status); });
    });
    const Status status = call.wait();
    if (status == Status::ok) return;
    if (status == Status::session_over) continue;
    if (status == Status::no_node) throw Error(ErrorCode::not_held, "nobody holds lock node " + node + " any more");
    std::rethrow_exception(recipes::lock_error(status, node, *client));
  }
}

}  // namespace zkrecipes
