// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tests/simulation/model/transaction.h"

namespace zkrecipes::simulation {

/// "/" for a node under the root.
inline std::string_view parent_path(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string_view::npos ? std::string_view("/") : path.substr(0, slash);
}

/// The nodes and sessions of one server, as of the last transaction that it has applied.
class DataTree {
 public:
  struct Node {
    std::string path;
    std::string data;
    std::int64_t czxid = 0;
    std::int64_t mzxid = 0;
    std::int64_t created_ms = 0;
    std::int64_t owner = 0;
    std::int32_t version = 0;
    std::int32_t cversion = 0;
    bool container = false;
    Node* parent = nullptr;
    std::size_t place = 0;        // among the parent's children
    std::size_t owner_place = 0;  // among the nodes of its session
    std::vector<Node*> children;  // in no order that means anything

    const char* name() const {
      return path.c_str() + (parent == nullptr || parent->parent == nullptr ? 1 : parent->path.size() + 1);
    }
    detail::NodeStat stat() const;
  };

  DataTree();
  DataTree(const DataTree& other);
  DataTree& operator=(const DataTree&) = delete;

  const Node* find(std::string_view path) const;
  std::size_t size() const { return nodes_.size(); }
  void for_each(const std::function<void(const Node&)>& visit) const { visit_all(*root_, visit); }

  const Node& create(const Transaction& transaction);
  const Node& set(const Transaction& transaction);
  void remove(std::string_view path);

  const std::vector<Node*>& ephemerals(std::int64_t session) const;
  /// Empty ones that have had a child.
  std::vector<std::string> removable_containers() const;

  std::map<std::int64_t, std::int32_t>& sessions() { return sessions_; }
  const std::map<std::int64_t, std::int32_t>& sessions() const { return sessions_; }

 private:
  Node& add(std::string path);
  void visit_all(const Node& node, const std::function<void(const Node&)>& visit) const;
  void copy_children(const Node& from);

  // The keys are the nodes' own paths.
  std::unordered_map<std::string_view, std::unique_ptr<Node>> nodes_;
  Node* root_ = nullptr;
  std::unordered_map<std::int64_t, std::vector<Node*>> ephemerals_;
  std::map<std::string, Node*, std::less<>> containers_;
  std::map<std::int64_t, std::int32_t> sessions_;  // with the time-out in milliseconds of their transaction
};

}  // namespace zkrecipes::simulation
