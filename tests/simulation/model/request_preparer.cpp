// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/model/request_preparer.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <utility>

namespace zkrecipes::simulation {

using detail::CreateMode;
using detail::RequestKind;
using detail::Status;

namespace {

void fail(Transaction& transaction, Status status) {
  transaction.kind = Transaction::Kind::error;
  transaction.status = status;
}

std::string sequence(std::int32_t number) {
  char text[16];
  std::snprintf(text, sizeof text, "%010d", number);
  return text;
}

bool is_special(std::string_view path) {
  return path == "/" || path == "/zookeeper" || path == "/zookeeper/config" || path == "/zookeeper/quota";
}

}  // namespace

RequestPreparer::Record RequestPreparer::record_of(std::string_view path) const {
  const auto found = by_path_.find(path);
  if (found != by_path_.end()) return *found->second;
  Record record;
  record.path = path;
  if (const DataTree::Node* node = tree_.find(path)) {
    record.exists = true;
    record.owner = node->owner;
    record.version = node->version;
    record.cversion = node->cversion;
    record.children = static_cast<std::int32_t>(node->children.size());
    record.container = node->container;
  }
  return record;
}

void RequestPreparer::change(Record record, std::int64_t zxid) {
  record.zxid = zxid;
  const auto found = by_path_.find(record.path);
  if (found != by_path_.end()) by_path_.erase(found);  // its key is the older record's
  changes_.push_back(std::move(record));
  by_path_.emplace(changes_.back().path, &changes_.back());
}

void RequestPreparer::applied(std::int64_t zxid) {
  while (!changes_.empty() && changes_.front().zxid <= zxid) {
    const auto found = by_path_.find(changes_.front().path);
    if (found != by_path_.end() && found->second == &changes_.front()) by_path_.erase(found);
    changes_.pop_front();
  }
}

void RequestPreparer::clear() {
  by_path_.clear();
  changes_.clear();
}

void RequestPreparer::prepare(Transaction& transaction) {
  const ClientRequest& from = *transaction.request;
  switch (from.kind) {
    case ClientRequest::Kind::create_session:
      transaction.kind = Transaction::Kind::create_session;
      transaction.timeout_ms = from.timeout_ms;
      return;
    case ClientRequest::Kind::close_session:
      return prepare_close(transaction);
    case ClientRequest::Kind::delete_container:
      return prepare_remove(transaction, from.request.path, -1, true);
    case ClientRequest::Kind::ping:
      return;
    case ClientRequest::Kind::ordinary:
      break;
  }
  if (from.request.kind == RequestKind::create)
    prepare_create(transaction, from.request);
  else if (from.request.kind == RequestKind::remove)
    prepare_remove(transaction, from.request.path, from.request.version, false);
  else
    prepare_set(transaction, from.request);
}

void RequestPreparer::prepare_create(Transaction& transaction, const detail::Request& request) {
  Record parent = record_of(parent_path(request.path));
  if (!parent.exists) return fail(transaction, Status::no_node);
  std::string path = request.path;
  if (request.mode == CreateMode::ephemeral_sequential)
    path += sequence(mistake_ == ModelMistake::sequence_counts_children ? parent.children : parent.cversion);
  if (record_of(path).exists) return fail(transaction, Status::node_exists);
  if (parent.owner != 0) return fail(transaction, Status::no_children_for_ephemerals);
  transaction.kind = Transaction::Kind::create;
  transaction.path = path;
  transaction.data = request.data;
  transaction.mode = request.mode;
  transaction.parent_cversion = ++parent.cversion;
  ++parent.children;
  change(std::move(parent), transaction.zxid);
  Record node;
  node.path = std::move(path);
  node.exists = true;
  node.container = request.mode == CreateMode::container;
  if (request.mode == CreateMode::ephemeral || request.mode == CreateMode::ephemeral_sequential)
    node.owner = transaction.request->session;
  change(std::move(node), transaction.zxid);
}

void RequestPreparer::prepare_remove(Transaction& transaction, const std::string& path, std::int32_t version,
                                     bool only_container) {
  if (is_special(path)) return fail(transaction, Status::invalid);
  Record parent = record_of(parent_path(path));
  Record node = record_of(path);
  if (!parent.exists || !node.exists) return fail(transaction, Status::no_node);
  if (version != -1 && version != node.version) return fail(transaction, Status::bad_version);
  if (node.children > 0) return fail(transaction, Status::not_empty);
  if (only_container && !node.container) return fail(transaction, Status::bad_version);
  transaction.kind = Transaction::Kind::remove;
  transaction.path = path;
  --parent.children;
  change(std::move(parent), transaction.zxid);
  Record gone;
  gone.path = path;
  change(std::move(gone), transaction.zxid);
}

void RequestPreparer::prepare_set(Transaction& transaction, const detail::Request& request) {
  Record node = record_of(request.path);
  if (!node.exists) return fail(transaction, Status::no_node);
  if (request.version != -1 && request.version != node.version) return fail(transaction, Status::bad_version);
  transaction.kind = Transaction::Kind::set;
  transaction.path = request.path;
  transaction.data = request.data;
  transaction.version = ++node.version;
  change(std::move(node), transaction.zxid);
}

void RequestPreparer::prepare_close(Transaction& transaction) {
  const std::int64_t session = transaction.request->session;
  transaction.kind = Transaction::Kind::close_session;
  if (mistake_ == ModelMistake::ephemerals_survive_close) return;
  std::set<std::string> paths;
  for (const DataTree::Node* node : tree_.ephemerals(session)) paths.insert(node->path);
  for (const Record& record : changes_) {
    if (!record.exists)
      paths.erase(record.path);
    else if (record.owner == session)
      paths.insert(record.path);
  }
  for (const std::string& path : paths) {
    // The server, too, leaves the parent's number of children as it is until the transaction is applied.
    change(record_of(parent_path(path)), transaction.zxid);
    Record gone;
    gone.path = path;
    change(std::move(gone), transaction.zxid);
  }
  transaction.removed.assign(paths.begin(), paths.end());
  // The server removes them in the order of a hash table.
  for (std::size_t left = transaction.removed.size(); left > 1; --left)
    std::swap(transaction.removed[left - 1], transaction.removed[random_.below(left)]);
}

}  // namespace zkrecipes::simulation
