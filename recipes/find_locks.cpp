// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/find_locks.h"

#include <algorithm>
#include <optional>
#include <stdexcept>

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

/// None if there is no contender among the children.
std::optional<FoundLock> queue_at(const std::string& path, const detail::NameList& children) {
  const std::vector<detail::NodeName> line = detail::in_queue_order(children);
  if (line.empty()) return std::nullopt;
  FoundLock lock;
  lock.path = path;
  bool writer_ahead = false;
  for (const detail::NodeName& each : line) {
    const bool reads = each.kind == NodeKind::read;
    if (reads || each.kind == NodeKind::write) lock.kind = LockKind::read_write;
    const bool holds = reads ? !writer_ahead : lock.holders + lock.waiters == 0;
    ++(holds ? lock.holders : lock.waiters);
    writer_ahead = writer_ahead || !reads;
  }
  return lock;
}

class Search {
 public:
  Search(const LockReader& reader, const FindLimits& limits) : reader_(reader), limits_(limits) {}

  FoundLocks run(const std::string& prefix) {
    todo_.push_back(prefix);
    while (!todo_.empty()) {
      if (looked_at_ == limits_.nodes) {
        result_.complete = false;
        break;
      }
      const std::string path = std::move(todo_.back());
      todo_.pop_back();
      look_at(path);
    }
    std::sort(result_.locks.begin(), result_.locks.end(),
              [](const FoundLock& a, const FoundLock& b) { return a.path < b.path; });
    return std::move(result_);
  }

 private:
  void look_at(const std::string& path) {
    ++looked_at_;
    const Reply listing = reader_.try_list(path);
    if (listing.status == Status::no_node) return;
    if (listing.status == Status::not_authorized) {
      result_.unreadable.push_back(path);
      return;
    }
    // The server's own node was there before any transaction. Below a chroot it is a node like any other.
    if (path == "/zookeeper" && listing.stat.czxid == 0) return;
    if (listing.stat.is_ephemeral()) return look_at_ephemeral(path);
    const bool semaphore = listing.children.contains(detail::kLeaseFolder) && add_semaphore(path);
    if (const auto lock = queue_at(path, listing.children)) result_.locks.push_back(*lock);
    for (const std::string_view child : listing.children) {
      if (detail::parse_node_name(child)) continue;
      if (semaphore && (child == detail::kLeaseFolder || child == detail::kLineFolder)) continue;
      todo_.push_back(detail::join(path, child));
    }
  }

  void look_at_ephemeral(const std::string& path) {
    const Reply node = reader_.get(path);
    if (node.status == Status::ok && detail::has_guid(node.data))
      result_.locks.push_back({path, LockKind::simple, 1, 0});
  }

  /// False if the folder only happens to have the name of a semaphore's.
  bool add_semaphore(const std::string& path) {
    const Reply leases = reader_.try_list(detail::join(path, detail::kLeaseFolder));
    // A folder that may not be listed is looked at again like any other node, and named as unreadable then.
    if (leases.status == Status::not_authorized || !detail::are_leases(leases.children)) return false;
    const std::string line = detail::join(path, detail::kLineFolder);
    const Reply waiting = reader_.try_list(line);
    if (waiting.status == Status::not_authorized) result_.unreadable.push_back(line);
    FoundLock lock{path, LockKind::semaphore, 0, 0};
    lock.holders = detail::held_leases(reader_, path, leases.children, waiting.children).size();
    for (const std::string_view child : waiting.children) {
      if (detail::parse_node_name(child))
        ++lock.waiters;
      else
        todo_.push_back(detail::join(line, child));
    }
    result_.locks.push_back(std::move(lock));
    return true;
  }

  const LockReader& reader_;
  const FindLimits limits_;
  std::size_t looked_at_ = 0;
  std::vector<std::string> todo_;
  FoundLocks result_;
};

}  // namespace

FoundLocks find_locks(Connection& connection, const std::string& prefix, const FindLimits& limits,
                      Clock::time_point deadline) {
  if (limits.nodes == 0) throw std::invalid_argument("zkrecipes: find_locks() must be allowed to look at a node");
  const LockReader reader(connection, prefix, "locks below ", deadline, limits.answer);
  return Search(reader, limits).run(prefix);
}

}  // namespace zkrecipes
