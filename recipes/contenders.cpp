// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/contenders.h"

#include <optional>
#include <ostream>
#include <utility>

#include "connection/client.h"
#include "recipes/lock_reader.h"
#include "recipes/node_data.h"
#include "recipes/queue_rule.h"

namespace zkrecipes {

using detail::LockReader;
using detail::NodeKind;
using detail::Reply;
using detail::Status;

namespace {

LockMode mode_of(NodeKind kind) {
  switch (kind) {
    case NodeKind::lock:
      return LockMode::exclusive;
    case NodeKind::read:
      return LockMode::read;
    case NodeKind::write:
      return LockMode::write;
    case NodeKind::lease:
      return LockMode::permit;
  }
  return LockMode::exclusive;
}

Contender describe(const std::string& node, const Reply& reply, LockMode mode, bool holds) {
  Contender contender;
  contender.node = node;
  contender.identity = detail::identity_in(reply.data);
  contender.note = detail::note_in(reply.data);
  contender.session = reply.stat.ephemeral_owner;
  contender.token = detail::token_of(reply, mode == LockMode::read ? NodeKind::read : NodeKind::lock);
  contender.since = std::chrono::system_clock::time_point(std::chrono::milliseconds(reply.stat.created_ms));
  contender.mode = mode;
  contender.holds = holds;
  return contender;
}

/// `holds` decides for each, given whether a writer (or any exclusive contender) stands ahead of it.
void append_queue(const LockReader& reader, const std::string& path, const detail::NameList& children,
                  std::optional<bool> holds, std::vector<Contender>& result) {
  bool first = true;
  bool writer_ahead = false;
  for (const detail::NodeName& name : detail::in_queue_order(children)) {
    const std::string node = detail::join(path, name.name);
    const Reply reply = reader.get(node);
    if (reply.status == Status::no_node) continue;  // gone since it was listed
    const bool reads = name.kind == NodeKind::read;
    result.push_back(describe(node, reply, mode_of(name.kind), holds.value_or(reads ? !writer_ahead : first)));
    first = false;
    if (!reads) writer_ahead = true;
  }
}

/// Leases and waiters, if the path is a semaphore's.
void append_semaphore(const LockReader& reader, const std::string& path, const Reply& listing,
                      std::vector<Contender>& result) {
  if (!listing.children.contains(detail::kLeaseFolder)) return;
  const std::string leases = detail::join(path, detail::kLeaseFolder);
  const Reply held = reader.list(leases);
  if (!detail::are_leases(held.children)) return;
  append_queue(reader, leases, held.children, true, result);
  const std::string line = detail::join(path, detail::kLineFolder);
  append_queue(reader, line, reader.list(line).children, false, result);
  for (Contender& contender : result) contender.mode = LockMode::permit;
}

/// The path of the lock that a contender's node belongs to: the folder of the node, or the semaphore whose folder that
/// is.
std::string lock_path_of(const LockReader& reader, const std::string& node) {
  const std::string folder = detail::parent_of(node);
  const std::string_view name = detail::name_of(folder);
  if (name != detail::kLeaseFolder && name != detail::kLineFolder) return folder;
  const std::string above = detail::parent_of(folder);
  const Reply leases = reader.try_list(detail::join(above, detail::kLeaseFolder));
  return leases.status == Status::ok && detail::are_leases(leases.children) ? above : folder;
}

/// A SimpleLock's path is the node of its holder.
std::optional<Contender> simple_holder(const LockReader& reader, const std::string& path, const Reply& listing) {
  if (!listing.stat.is_ephemeral()) return std::nullopt;
  const Reply node = reader.get(path);
  if (node.status != Status::ok) return std::nullopt;
  if (detail::parse_node_name(detail::name_of(path)) && !detail::has_guid(node.data))
    throw Error(ErrorCode::unusable_path,
                path + " is the node of one client of a lock; the path of the lock is " + lock_path_of(reader, path));
  if (!detail::is_lock_node(path, node) && !detail::is_unreadable(node)) throw detail::not_a_lock_node(path, node);
  return describe(path, node, LockMode::exclusive, true);
}

/// The first in line holds. If it has left since, so does the next. None if the line must be listed again.
std::optional<Contender> first_of(const LockReader& reader, const std::string& queue,
                                  const std::vector<detail::NodeName>& line) {
  for (const detail::NodeName& name : line) {
    const std::string node = detail::join(queue, name.name);
    const Reply reply = reader.get(node);
    if (reply.status == Status::ok) return describe(node, reply, mode_of(name.kind), true);
    // A read node may have taken the place of a write node, ahead of the next in this list.
    if (name.kind == NodeKind::write) break;
  }
  return std::nullopt;
}

}  // namespace

std::vector<Contender> contenders(Connection& connection, const std::string& path, Clock::time_point deadline) {
  const LockReader reader(connection, path, "contenders of ", deadline);
  std::vector<Contender> result;
  const Reply listing = reader.list(path);
  if (listing.status == Status::no_node) return result;
  append_semaphore(reader, path, listing, result);
  append_queue(reader, path, listing.children, std::nullopt, result);
  if (result.empty())
    if (auto holder = simple_holder(reader, path, listing)) result.push_back(std::move(*holder));
  return result;
}

std::optional<Contender> holder(Connection& connection, const std::string& path, Clock::time_point deadline) {
  const LockReader reader(connection, path, "holder of ", deadline);
  for (;;) {
    const Reply listing = reader.list(path);
    if (listing.status == Status::no_node) return std::nullopt;
    if (listing.children.contains(detail::kLeaseFolder)) {
      const std::string leases = detail::join(path, detail::kLeaseFolder);
      const Reply held = reader.list(leases);
      if (!held.children.empty() && detail::are_leases(held.children)) {
        auto first = first_of(reader, leases, detail::in_queue_order(held.children));
        if (!first) continue;
        return first;
      }
    }
    const std::vector<detail::NodeName> line = detail::in_queue_order(listing.children);
    if (line.empty()) return simple_holder(reader, path, listing);
    if (auto first = first_of(reader, path, line)) return first;
  }
}

const char* to_string(LockKind kind) noexcept {
  switch (kind) {
    case LockKind::mutex:
      return "mutex";
    case LockKind::read_write:
      return "read-write";
    case LockKind::semaphore:
      return "semaphore";
    case LockKind::simple:
      return "simple";
  }
  return "unknown";
}

std::ostream& operator<<(std::ostream& out, LockKind kind) {
  return out << to_string(kind);
}

const char* to_string(LockMode mode) noexcept {
  switch (mode) {
    case LockMode::exclusive:
      return "exclusive";
    case LockMode::read:
      return "read";
    case LockMode::write:
      return "write";
    case LockMode::permit:
      return "permit";
  }
  return "unknown";
}

}  // namespace zkrecipes
