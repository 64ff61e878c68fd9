// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "connection/name_list.h"
#include "zkrecipes/connection_options.h"

namespace zkrecipes::detail {

/// How a request ended, in our words.
enum class Status {
  ok,
  no_node,
  node_exists,
  not_empty,
  bad_version,
  no_children_for_ephemerals,
  not_authorized,
  invalid,           ///< arguments or ACL that the server or the C client will never take
  unsupported,       ///< the server does not know the request
  rejected,          ///< any other final answer of the server
  too_many_watches,  ///< setting one more could make it impossible to reconnect
  too_large,         ///< larger than the server accepts (its jute.maxbuffer)
  occupied,          ///< not asked of the server: another kind of lock uses the path; see CreateSpec::suspects
  no_parent,         ///< not asked for: the parent is missing, and must not be made; see CreateSpec::needs_parent
  no_chroot,         ///< not asked of the server: the chroot is missing, and the program does not want it made
  connection_loss,   ///< outcome unknown; seen inside connection/ only, where it is resolved
  session_over,      ///< the session that the request belonged to is over
  closed,            ///< the connection was closed
};

const char* to_string(Status status) noexcept;

struct NodeStat {
  std::int64_t czxid = 0;
  std::int64_t mzxid = 0;
  std::int64_t ephemeral_owner = 0;
  std::int64_t created_ms = 0;  ///< server's clock, milliseconds since the epoch
  std::int32_t version = 0;
  std::int32_t children = 0;
  std::int32_t data_length = 0;  ///< shown also to those who may not read the data

  /// Containers and nodes with a time to live are shown to clients without an owner.
  bool is_ephemeral() const { return ephemeral_owner != 0; }
};

enum class CreateMode { persistent, container, ephemeral, ephemeral_sequential };

enum class RequestKind { create, remove, exists, get, set, list, sync, unwatch_data, unwatch_children };

using AclPtr = std::shared_ptr<const Acl>;

/// One request as it goes to the server. Fields that a kind does not use stay empty.
struct Request {
  RequestKind kind{};
  std::string path{};
  std::string data{};
  CreateMode mode = CreateMode::persistent;
  std::int32_t version = -1;  ///< expected version of remove and set; -1: any
  bool watch = false;         ///< exists, get: data watch; list: child watch
  /// If not 0: send it on that connection only; when that is over the request ends with connection_loss without having
  /// been sent.
  std::uint64_t connection = 0;
  AclPtr acl{};  ///< of a node that is created; null: open
};

/// A write that expects a version that no node has: versions count up from 0, and -1 means any. The server refuses it,
/// so nothing changes and no watch fires, but the refusal is a transaction that a quorum has committed.
inline Request refused_write(std::string path) {
  Request request{RequestKind::set, std::move(path)};
  request.version = -2;
  return request;
}

/// What the request takes up in a packet, less a small constant.
inline std::size_t bytes(const Request& request) {
  std::size_t size = request.path.size() + request.data.size();
  if (request.acl)
    for (const Acl::Entry& entry : request.acl->entries()) size += entry.scheme.size() + entry.id.size();
  return size;
}

/// Its answer. `path` is the created node's.
struct Reply {
  Status status = Status::ok;
  std::string path;
  std::string data;
  NameList children;
  NodeStat stat;
  std::uint64_t connection = 0;  ///< number of the connection that answered; grows with each reconnect
};

/// What a node of ours is for: a place in line, or a hold.
enum class NodeRole { waits, holds };

using ReplyHandler = std::function<void(Reply)>;

enum class WatchEvent { created, deleted, changed, children_changed, unwatched };
using WatchHandler = std::function<void(WatchEvent)>;

}  // namespace zkrecipes::detail
