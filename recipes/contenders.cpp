// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/contenders.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "connection/client.h"
#include "recipes/lock_error.h"
#include "recipes/node_data.h"
#include "recipes/queue_rule.h"
#include "recipes/waiting_call.h"

namespace zkrecipes {

using connection::Reply;
using connection::Status;
using recipes::NodeKind;

namespace {

/// Reads of one path, one after the other, on the caller's thread. A session lost on the way is waited out.
class Reader {
 public:
  Reader(connection::Client& client, const std::string& path) : client_(client), path_(path) {}

  Reply list(const std::string& path) { return read(&connection::Client::list, path); }
  Reply get(const std::string& path) { return read(&connection::Client::get, path); }

 private:
  using Read = void (connection::Client::*)(const connection::SessionPtr&, const std::string&,
                                            connection::ReplyHandler);

  Reply read(Read how, const std::string& path) {
    for (;;) {
      const recipes::WaitingCall<std::pair<Status, connection::SessionPtr>> session;
      client_.await_session([session](Status status, connection::SessionPtr found) {
        session.deliver({status, std::move(found)});
      });
      const auto [status, current] = session.wait();
      if (status != Status::ok) std::rethrow_exception(recipes::lock_error(status, path_, client_));
      const recipes::WaitingCall<Reply> call;
      (client_.*how)(current, path, [call](Reply reply) { call.deliver(std::move(reply)); });
      Reply reply = call.wait();
      if (reply.status == Status::session_over) continue;
      if (reply.status != Status::ok && reply.status != Status::no_node)
        std::rethrow_exception(recipes::lock_error(reply.status, path_, client_));
      return reply;
    }
  }

  connection::Client& client_;
  const std::string& path_;
};

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
  contender.identity = recipes::identity_in(reply.data);
  contender.session = reply.stat.ephemeral_owner;
  // After a downgrade the hold keeps the write node's token, which only the data of the read node tell.
  const auto kept = mode == LockMode::read ? recipes::token_in(reply.data) : std::nullopt;
  contender.token = kept.value_or(FencingToken{reply.stat.czxid, 0});
  contender.since = std::chrono::system_clock::time_point(std::chrono::milliseconds(reply.stat.created_ms));
  contender.mode = mode;
  contender.holds = holds;
  return contender;
}

/// `holds` decides for each, given whether a writer (or any exclusive contender) stands ahead of it.
void append_queue(Reader& reader, const std::string& path, const connection::NameList& children,
                  std::optional<bool> holds, std::vector<Contender>& result) {
  bool first = true;
  bool writer_ahead = false;
  for (const recipes::NodeName& name : recipes::in_queue_order(children)) {
    const std::string node = connection::join(path, name.name);
    const Reply reply = reader.get(node);
    if (reply.status == Status::no_node) continue;  // gone since it was listed
    const bool reads = name.kind == NodeKind::read;
    result.push_back(describe(node, reply, mode_of(name.kind), holds.value_or(reads ? !writer_ahead : first)));
    first = false;
    if (!reads) writer_ahead = true;
  }
}

}  // namespace

std::vector<Contender> contenders(Connection& connection, const std::string& path) {
  connection::check_node_path(path);
  const auto client = client_of(connection);
  client->check_may_block();
  Reader reader(*client, path);
  std::vector<Contender> result;
  const Reply listing = reader.list(path);
  if (listing.status == Status::no_node) return result;
  if (listing.children.contains("leases") || listing.children.contains("locks")) {
    const std::string leases = connection::join(path, "leases");
    const std::string locks = connection::join(path, "locks");
    append_queue(reader, leases, reader.list(leases).children, true, result);
    append_queue(reader, locks, reader.list(locks).children, false, result);
    for (Contender& contender : result) contender.mode = LockMode::permit;
    return result;
  }
  append_queue(reader, path, listing.children, std::nullopt, result);
  if (result.empty() && listing.stat.is_ephemeral()) {
    const Reply node = reader.get(path);
    if (node.status == Status::ok) result.push_back(describe(path, node, LockMode::exclusive, true));
  }
  return result;
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
