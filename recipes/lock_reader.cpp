// SPDX-License-Identifier: Apache-2.0
#include "recipes/lock_reader.h"

#include <utility>

#include "recipes/node_data.h"

namespace zkrecipes::detail {

LockReader::LockReader(Connection& connection, const std::string& path, const char* what, Clock::time_point deadline)
    : call_(client_of(connection), path, std::string(what) + path, deadline) {}

Reply LockReader::try_list(const std::string& path) const {
  return read(&Client::list, path, "the list of ");
}

Reply LockReader::list(const std::string& path) const {
  Reply reply = try_list(path);
  if (reply.status != Status::not_authorized) return reply;
  // A SimpleLock's node has no children, and that it is one can be seen without permission.
  reply = read(&Client::exists, path, "the status of ");
  if (reply.status == Status::ok && !reply.stat.is_ephemeral()) call_.fail(Status::not_authorized);
  return reply;
}

Reply LockReader::get(const std::string& path) const {
  Reply reply = read(&Client::get, path, "the data of ");
  return reply.status == Status::not_authorized ? read(&Client::exists, path, "the status of ") : reply;
}

Reply LockReader::get_synced(const std::string& path) const {
  Reply reply = read(&Client::get, path, "the data of ", true);
  return reply.status == Status::not_authorized ? read(&Client::exists, path, "the status of ", true) : reply;
}

Reply LockReader::read(Read how, const std::string& path, const char* wanted, bool synced) const {
  for (;;) {
    const SessionPtr session = call_.session();
    const WaitingCall<Reply> answer;
    // For a server that lags behind.
    if (synced) call_.client()->sync(session, path, nullptr);
    ((*call_.client()).*how)(session, path, [answer](Reply reply) { answer.deliver(std::move(reply)); });
    Reply reply = call_.wait(answer, wanted + path);
    if (reply.status == Status::session_over) continue;
    if (reply.status != Status::ok && reply.status != Status::no_node && reply.status != Status::not_authorized)
      call_.fail(reply.status);
    return reply;
  }
}

bool are_leases(const NameList& children) {
  for (const std::string_view child : children) {
    const auto name = parse_node_name(child);
    if (!name || name->kind != NodeKind::lease) return false;
  }
  return true;
}

bool is_lock_node(std::string_view path, const Reply& node) {
  return node.stat.is_ephemeral() &&
         (parse_node_name(name_of(path)) || has_guid(node.data) || asks_to_revoke(node.data));
}

bool is_unreadable(const Reply& node) {
  return node.data.empty() && node.stat.data_length != 0;
}

Error not_a_lock_node(const std::string& path, const Reply& node) {
  std::string why = "node " + path + " is no lock node: ";
  if (node.stat.is_ephemeral())
    why += "another program has made it, since neither its name nor its data are those of a lock";
  else if (parse_node_name(name_of(path)))
    why +=
        "it is not ephemeral and has only the name of one; no session owns it, so it stays until somebody deletes it";
  else
    why += "it is not ephemeral";
  return {ErrorCode::unusable_path, why};
}

FencingToken token_of(const Reply& node, NodeKind kind) {
  // After a downgrade the hold keeps the write node's token, which only the data of the read node tell.
  const auto kept = kind == NodeKind::read ? token_in(node.data) : std::nullopt;
  return kept.value_or(FencingToken{node.stat.czxid, 0});
}

}  // namespace zkrecipes::detail
