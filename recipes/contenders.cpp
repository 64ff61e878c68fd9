// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/contenders.h"

#include <algorithm>
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
  contender.asked_to_release = detail::asks_to_revoke(reply.data);
  return contender;
}

/// Reads the nodes of a line. `holds`, if given, is true of all or of none; otherwise of the first, and of readers
/// without a writer ahead of them.
void append_queue(const LockReader& reader, const std::string& path, const std::vector<detail::NodeName>& line,
                  std::optional<bool> holds, std::vector<Contender>& result) {
  std::vector<std::string> nodes;
  nodes.reserve(line.size());
  for (const detail::NodeName& name : line) nodes.push_back(detail::join(path, name.name));
  const std::vector<Reply> replies = reader.get_all(nodes);
  bool first = true;
  bool writer_ahead = false;
  for (std::size_t n = 0; n < line.size(); ++n) {
    if (replies[n].status == Status::no_node) continue;  // gone since it was listed
    const bool reads = line[n].kind == NodeKind::read;
    result.push_back(
        describe(nodes[n], replies[n], mode_of(line[n].kind), holds.value_or(reads ? !writer_ahead : first)));
    first = false;
    if (!reads) writer_ahead = true;
  }
}

/// Leases and waiters, if the path is a semaphore's; false if it is not.
bool append_semaphore(const LockReader& reader, const std::string& path, const Reply& listing,
                      std::vector<Contender>& result) {
  if (!listing.children.contains(detail::kLeaseFolder)) return false;
  const std::string leases = detail::join(path, detail::kLeaseFolder);
  const Reply made = reader.list(leases);
  if (!detail::are_leases(made.children)) return false;
  const std::string line = detail::join(path, detail::kLineFolder);
  const Reply waiting = reader.list(line);
  append_queue(reader, leases, detail::held_leases(reader, path, made.children, waiting.children), true, result);
  append_queue(reader, line, detail::in_queue_order(waiting.children), false, result);
  for (Contender& contender : result) contender.mode = LockMode::permit;
  return true;
}

/// Neither contenders nor the folders of a semaphore.
std::size_t not_understood_in(const detail::NameList& children, bool semaphore) {
  return static_cast<std::size_t>(std::count_if(children.begin(), children.end(), [&](std::string_view child) {
    const bool folder = semaphore && (child == detail::kLeaseFolder || child == detail::kLineFolder);
    return !folder && !detail::parse_node_name(child);
  }));
}

/// The path of the semaphore that this node is a folder of; none if it is none of a semaphore's. The name alone says
/// nothing, nor does an empty folder of leases without the mark: any lock may have such a path.
std::optional<std::string> semaphore_of(const LockReader& reader, const std::string& folder) {
  const std::string_view name = detail::name_of(folder);
  if (name != detail::kLeaseFolder && name != detail::kLineFolder) return std::nullopt;
  std::string path = detail::parent_of(folder);
  const Reply leases = reader.try_list(detail::join(path, detail::kLeaseFolder));
  const bool used = !leases.children.empty() || detail::is_marked(leases.stat);
  if (leases.status != Status::ok || !used || !detail::are_leases(leases.children)) return std::nullopt;
  return path;
}

/// A listing of such a folder alone shows holders as waiters, and waiters as holders.
void refuse_folder_of_semaphore(const LockReader& reader, const std::string& path) {
  if (const auto semaphore = semaphore_of(reader, path))
    throw Error(ErrorCode::unusable_path, path + " is a folder of a semaphore; the path of the lock is " + *semaphore);
}

/// The path of the lock that a contender's node belongs to: the folder of the node, or the semaphore whose folder that
/// is.
std::string lock_path_of(const LockReader& reader, const std::string& node) {
  const std::string folder = detail::parent_of(node);
  return semaphore_of(reader, folder).value_or(folder);
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

LockListing list_lock(Connection& connection, const std::string& path, Clock::time_point deadline) {
  const LockReader reader(connection, path, "contenders of ", deadline);
  refuse_folder_of_semaphore(reader, path);
  LockListing result;
  const Reply listing = reader.list(path);
  if (listing.status == Status::no_node) return result;
  result.exists = true;
  const bool semaphore = append_semaphore(reader, path, listing, result.contenders);
  append_queue(reader, path, detail::in_queue_order(listing.children), std::nullopt, result.contenders);
  result.not_understood = not_understood_in(listing.children, semaphore);
  if (result.contenders.empty())
    if (auto holder = simple_holder(reader, path, listing)) result.contenders.push_back(std::move(*holder));
  return result;
}

std::vector<Contender> contenders(Connection& connection, const std::string& path, Clock::time_point deadline) {
  return list_lock(connection, path, deadline).contenders;
}

Contender owner_of(Connection& connection, const std::string& node, Clock::time_point deadline) {
  const LockReader reader(connection, node, "owner of ", deadline);
  const Reply found = reader.get_synced(node);
  if (found.status == Status::no_node) throw Error(ErrorCode::not_held, "there is no lock node " + node);
  detail::check_lock_node(reader, node, found);
  const auto name = detail::parse_node_name(detail::name_of(node));
  return describe(node, found, name ? mode_of(name->kind) : LockMode::exclusive, false);
}

std::optional<Contender> holder(Connection& connection, const std::string& path, Clock::time_point deadline) {
  const LockReader reader(connection, path, "holder of ", deadline);
  refuse_folder_of_semaphore(reader, path);
  for (;;) {
    const Reply listing = reader.list(path);
    if (listing.status == Status::no_node) return std::nullopt;
    if (listing.children.contains(detail::kLeaseFolder)) {
      const std::string leases = detail::join(path, detail::kLeaseFolder);
      const Reply made = reader.list(leases);
      if (!made.children.empty() && detail::are_leases(made.children)) {
        const Reply waiting = reader.list(detail::join(path, detail::kLineFolder));
        const auto held = detail::held_leases(reader, path, made.children, waiting.children);
        if (held.empty()) return std::nullopt;
        if (auto first = first_of(reader, leases, held)) return first;
        continue;
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
