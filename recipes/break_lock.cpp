// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/break_lock.h"

#include <algorithm>

#include "connection/client.h"
#include "recipes/lock_reader.h"
#include "recipes/node_name.h"
#include "recipes/queue_rule.h"

namespace zkrecipes {

using detail::LockReader;
using detail::Reply;
using detail::Status;

namespace {

FencingToken token_at(const std::string& node, const Reply& reply) {
  const auto name = detail::parse_node_name(detail::name_of(node));
  return detail::token_of(reply, name ? name->kind : detail::NodeKind::lock);
}

/// ok, no_node, bad_version, not_empty or session_over; throws for all others.
Status remove(const LockReader& reader, const std::string& node, std::int64_t czxid, std::int32_t version = -1) {
  const detail::SessionPtr session = reader.call().session();
  const detail::WaitingCall<Status> answer;
  reader.call().client()->remove_exactly(session, node, czxid, version,
                                         [answer](Status status) { answer.deliver(status); });
  const Status status = reader.call().wait(answer, "an answer to the removal");
  switch (status) {
    case Status::ok:
    case Status::no_node:
    case Status::bad_version:
    case Status::not_empty:
    case Status::session_over:
      return status;
    default:
      reader.call().fail(status);
  }
}

[[noreturn]] void throw_wrong_token(const std::string& node, const FencingToken& token, const FencingToken& found) {
  throw Error(ErrorCode::wrong_token, "node " + node + " has the token " + found.to_string() + ", not " +
                                          token.to_string() + "; look again before you break it");
}

}  // namespace

void break_lock(Connection& connection, const std::string& node, const FencingToken& token,
                Clock::time_point deadline) {
  const LockReader reader(connection, node, "breaking of ", deadline);
  bool sent = false;
  for (;;) {
    const Reply found = reader.get_synced(node);
    const bool matches = found.status == Status::ok && token_at(node, found) == token;
    // After a lost session it is not known whether the removal was carried out; if the node is gone it does not matter.
    if (!matches && sent) return;
    if (found.status == Status::no_node)
      throw Error(ErrorCode::not_held, "there is no lock node " + node + "; its client has left");
    detail::check_lock_node(reader, node, found);
    if (!matches) throw_wrong_token(node, token, token_at(node, found));
    const Status status = remove(reader, node, found.stat.czxid);
    if (status == Status::ok || status == Status::not_empty) {
      if (status == Status::ok) return;
      reader.call().fail(status);
    }
    // Otherwise it has changed since, or the session was lost: look again.
    sent = sent || status == Status::session_over;
  }
}

namespace {

/// Whether there are data can be seen without permission to read them. A semaphore's mark is nobody's data.
bool has_data(const Reply& found) {
  return found.stat.data_length != 0 && found.data != detail::kLeaseFolderMark;
}

/// False if it is in use or was used again at the same time, and for a folder that is not empty.
bool remove_folder(const LockReader& reader, const std::string& folder) {
  for (;;) {
    const Reply found = reader.get_synced(folder);
    if (found.status == Status::no_node) return true;
    if (found.stat.is_ephemeral() || has_data(found) || found.stat.children != 0) return false;
    // With its version, so that a count of holds which was begun meanwhile is not lost.
    const Status status = remove(reader, folder, found.stat.czxid, found.stat.version);
    if (status == Status::ok || status == Status::no_node) return true;
    if (status == Status::not_empty) return false;
  }
}

/// Removes the two folders of a semaphore at `path` if nobody uses them. Without a folder of leases there is no
/// semaphore: any lock may have a path that ends with "locks".
bool remove_semaphore_folders(const LockReader& reader, const std::string& path) {
  const detail::NameList children = reader.list(path).children;
  const bool only_folders = std::all_of(children.begin(), children.end(), [](std::string_view child) {
    return child == detail::kLineFolder || child == detail::kLeaseFolder;
  });
  if (!only_folders || !children.contains(detail::kLeaseFolder)) return children.empty();
  const std::string leases = detail::join(path, detail::kLeaseFolder);
  // The leases last: without them the next call would not know the line.
  if (reader.get_synced(leases).stat.children != 0) return false;
  return remove_folder(reader, detail::join(path, detail::kLineFolder)) && remove_folder(reader, leases);
}

}  // namespace

bool remove_empty_lock(Connection& connection, const std::string& path, Clock::time_point deadline) {
  const LockReader reader(connection, path, "removal of ", deadline);
  const Reply found = reader.get_synced(path);
  if (found.status == Status::no_node) return true;
  if (found.stat.is_ephemeral() || has_data(found))
    throw Error(ErrorCode::unusable_path, "node " + path + " is no empty lock path: it " +
                                              (found.stat.is_ephemeral() ? "is ephemeral" : "has data"));
  if (found.stat.children != 0 && !remove_semaphore_folders(reader, path)) return false;
  return remove_folder(reader, path);
}

}  // namespace zkrecipes
