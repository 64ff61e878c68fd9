// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace zkrecipes::connection {

/// Throws std::invalid_argument, naming the path and what is wrong with it, unless it is an absolute node path as
/// ZooKeeper takes it: "/" or "/a/b", no empty, "." or ".." parts, no trailing slash, no control characters.
void check_node_path(const std::string& path);

/// "/a/b" -> "/a"; "/a" -> "/".
std::string parent_of(const std::string& path);

/// "/a/b" -> "b".
std::string name_of(const std::string& path);

/// join("/a", "b") -> "/a/b"; join("/", "b") -> "/b".
std::string join(const std::string& parent, const std::string& name);

/// "/a/b/c" -> {"/a", "/a/b", "/a/b/c"}; "/" -> {}.
std::vector<std::string> with_ancestors(const std::string& path);

}  // namespace zkrecipes::connection
