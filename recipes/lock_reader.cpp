// SPDX-License-Identifier: Apache-2.0
#include "recipes/lock_reader.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <set>
#include <utility>

#include "recipes/node_data.h"
#include "recipes/queue_rule.h"

namespace zkrecipes::detail {

namespace {

/// Enough to hide the round trips, and little beside what the servers accept of one client.
constexpr std::size_t kUnderWay = 256;

/// Whether the answer ends the call, and not only this read.
bool is_failure(Status status) {
  return status != Status::ok && status != Status::no_node && status != Status::not_authorized;
}

/// Curator's clients: the lease that the head of the line has made, or the number of leases. A client of Curator makes
/// one lease at a time. Others of its session may hold leases, but theirs are older: they were at the head before.
std::size_t lease_of_head(const LockReader& reader, const std::string& lock_path, const std::vector<NodeName>& leases,
                          const NodeName& head) {
  std::vector<std::string> nodes{join(join(lock_path, kLineFolder), head.name)};
  for (const NodeName& each : leases) nodes.push_back(join(join(lock_path, kLeaseFolder), each.name));
  const std::vector<Reply> replies = reader.get_all(nodes);
  const NodeStat& first = replies.front().stat;
  std::size_t newest = leases.size();
  std::int64_t newest_czxid = first.czxid;
  if (replies.front().status != Status::ok) return newest;
  for (std::size_t n = 0; n < leases.size(); ++n) {
    const NodeStat& lease = replies[n + 1].stat;
    if (replies[n + 1].status != Status::ok || lease.ephemeral_owner != first.ephemeral_owner) continue;
    if (lease.czxid <= newest_czxid) continue;
    newest = n;
    newest_czxid = lease.czxid;
  }
  return newest;
}

}  // namespace

LockReader::LockReader(Connection& connection, const std::string& path, const char* what, Clock::time_point deadline,
                       std::optional<std::chrono::milliseconds> answer_limit)
    : call_(client_of(connection), path, std::string(what) + path, deadline, answer_limit) {}

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
    if (is_failure(reply.status)) call_.fail(reply.status);
    return reply;
  }
}

std::vector<Reply> LockReader::get_all(const std::vector<std::string>& paths) const {
  Reply unanswered;
  unanswered.status = Status::session_over;
  std::vector<Reply> replies(paths.size(), unanswered);
  read_all(&Client::get, paths, Status::session_over, replies);
  read_all(&Client::exists, paths, Status::not_authorized, replies);
  return replies;
}

void LockReader::read_all(Read how, const std::vector<std::string>& paths, Status which,
                          std::vector<Reply>& replies) const {
  std::deque<std::size_t> todo;
  for (std::size_t n = 0; n < paths.size(); ++n)
    if (replies[n].status == which) todo.push_back(n);
  std::deque<std::pair<std::size_t, WaitingCall<Reply>>> under_way;
  while (!todo.empty() || !under_way.empty()) {
    if (!todo.empty() && under_way.size() < kUnderWay) {
      const WaitingCall<Reply> answer;
      under_way.emplace_back(todo.front(), answer);
      ((*call_.client()).*how)(call_.session(), paths[todo.front()],
                               [answer](Reply reply) { answer.deliver(std::move(reply)); });
      todo.pop_front();
      continue;
    }
    const auto [n, answer] = under_way.front();
    under_way.pop_front();
    replies[n] = call_.wait(answer, "the data of " + paths[n]);
    if (replies[n].status == Status::session_over)
      todo.push_back(n);
    else if (is_failure(replies[n].status))
      call_.fail(replies[n].status);
  }
}

bool are_leases(const NameList& children) {
  for (const std::string_view child : children) {
    const auto name = parse_node_name(child);
    if (!name || name->kind != NodeKind::lease) return false;
  }
  return true;
}

std::vector<NodeName> held_leases(const LockReader& reader, const std::string& lock_path, const NameList& leases,
                                  const NameList& line) {
  std::vector<NodeName> held = in_queue_order(leases);
  const std::vector<NodeName> waiting = in_queue_order(line);
  if (waiting.empty() || held.empty()) return held;
  std::set<std::string_view> attempts;
  for (const NodeName& each : waiting) attempts.insert(attempt_in(each.name));
  attempts.erase(std::string_view());
  const auto waits = [&](const NodeName& lease) { return attempts.count(attempt_in(lease.name)) != 0; };
  const auto end = std::remove_if(held.begin(), held.end(), waits);
  if (end != held.end()) {
    held.erase(end, held.end());
    return held;
  }
  const std::size_t of_head = lease_of_head(reader, lock_path, held, waiting.front());
  if (of_head != held.size()) held.erase(held.begin() + static_cast<std::ptrdiff_t>(of_head));
  return held;
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
    why += "it is not ephemeral and has only the name of one; no session owns it, so it has to be deleted by hand";
  else
    why += "it is not ephemeral";
  return {ErrorCode::unusable_path, why};
}

void check_lock_node(const LockReader& reader, const std::string& path, const Reply& node) {
  if (is_lock_node(path, node)) return;
  if (node.stat.is_ephemeral() && is_unreadable(node)) reader.call().fail(Status::not_authorized);
  throw not_a_lock_node(path, node);
}

FencingToken token_of(const Reply& node, NodeKind kind) {
  // After a downgrade the hold keeps the write node's token, which only the data of the read node tell.
  const auto kept = kind == NodeKind::read ? token_in(node.data) : std::nullopt;
  return kept.value_or(FencingToken{node.stat.czxid, 0});
}

}  // namespace zkrecipes::detail
