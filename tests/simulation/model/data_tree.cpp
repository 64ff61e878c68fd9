// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/model/data_tree.h"

#include <utility>

namespace zkrecipes::simulation {

detail::NodeStat DataTree::Node::stat() const {
  detail::NodeStat result;
  result.czxid = czxid;
  result.mzxid = mzxid;
  result.ephemeral_owner = owner;
  result.created_ms = created_ms;
  result.version = version;
  result.children = static_cast<std::int32_t>(children.size());
  result.data_length = static_cast<std::int32_t>(data.size());
  return result;
}

DataTree::DataTree() {
  auto root = std::make_unique<Node>();
  root->path = "/";
  root->cversion = -1;  // as the server starts it: the first child of a program makes it 0
  root_ = root.get();
  nodes_.emplace(root_->path, std::move(root));
  add("/zookeeper");
  add("/zookeeper/config");
  add("/zookeeper/quota");
}

DataTree::DataTree(const DataTree& other) : sessions_(other.sessions_) {
  auto root = std::make_unique<Node>(*other.root_);
  root->children.clear();
  root_ = root.get();
  nodes_.emplace(root_->path, std::move(root));
  copy_children(*other.root_);
  for (const auto& [path, node] : other.containers_) containers_.emplace(path, nodes_.at(node->path).get());
  for (const auto& [session, owned] : other.ephemerals_) {
    std::vector<Node*>& copies = ephemerals_[session];
    for (const Node* node : owned) copies.push_back(nodes_.at(node->path).get());
  }
}

void DataTree::copy_children(const Node& from) {
  Node* const parent = nodes_.at(from.path).get();
  for (const Node* child : from.children) {
    auto copy = std::make_unique<Node>(*child);
    copy->children.clear();
    copy->parent = parent;
    parent->children.push_back(copy.get());
    const std::string_view key = copy->path;
    nodes_.emplace(key, std::move(copy));
    copy_children(*child);
  }
}

const DataTree::Node* DataTree::find(std::string_view path) const {
  const auto found = nodes_.find(path);
  return found == nodes_.end() ? nullptr : found->second.get();
}

DataTree::Node& DataTree::add(std::string path) {
  auto made = std::make_unique<Node>();
  Node& node = *made;
  node.path = std::move(path);
  node.parent = nodes_.at(parent_path(node.path)).get();
  node.place = node.parent->children.size();
  node.parent->children.push_back(&node);
  nodes_.emplace(node.path, std::move(made));
  return node;
}

const DataTree::Node& DataTree::create(const Transaction& transaction) {
  Node& node = add(transaction.path);
  node.data = transaction.data;
  node.czxid = node.mzxid = transaction.zxid;
  node.created_ms = transaction.time_ms;
  node.parent->cversion = transaction.parent_cversion;
  switch (transaction.mode) {
    case detail::CreateMode::persistent:
      break;
    case detail::CreateMode::container:
      node.container = true;
      containers_.emplace(node.path, &node);
      break;
    case detail::CreateMode::ephemeral:
    case detail::CreateMode::ephemeral_sequential: {
      node.owner = transaction.request->session;
      std::vector<Node*>& owned = ephemerals_[node.owner];
      node.owner_place = owned.size();
      owned.push_back(&node);
      break;
    }
  }
  return node;
}

const DataTree::Node& DataTree::set(const Transaction& transaction) {
  Node& node = *nodes_.at(transaction.path);
  node.data = transaction.data;
  node.mzxid = transaction.zxid;
  node.version = transaction.version;
  return node;
}

void DataTree::remove(std::string_view path) {
  const auto found = nodes_.find(path);
  const std::unique_ptr<Node> node = std::move(found->second);
  nodes_.erase(found);  // before the node, which has the key
  std::vector<Node*>& siblings = node->parent->children;
  siblings[node->place] = siblings.back();
  siblings[node->place]->place = node->place;
  siblings.pop_back();
  if (node->container) containers_.erase(node->path);
  if (node->owner != 0) {
    const auto entry = ephemerals_.find(node->owner);
    std::vector<Node*>& owned = entry->second;
    owned[node->owner_place] = owned.back();
    owned[node->owner_place]->owner_place = node->owner_place;
    owned.pop_back();
    if (owned.empty()) ephemerals_.erase(entry);
  }
}

const std::vector<DataTree::Node*>& DataTree::ephemerals(std::int64_t session) const {
  static const std::vector<Node*> none;
  const auto found = ephemerals_.find(session);
  return found == ephemerals_.end() ? none : found->second;
}

std::vector<std::string> DataTree::removable_containers() const {
  std::vector<std::string> result;
  for (const auto& [path, node] : containers_)
    if (node->children.empty() && node->cversion > 0) result.push_back(path);
  return result;
}

void DataTree::visit_all(const Node& node, const std::function<void(const Node&)>& visit) const {
  visit(node);
  for (const Node* child : node.children) visit_all(*child, visit);
}

}  // namespace zkrecipes::simulation
