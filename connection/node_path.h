// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace zkrecipes::detail {

/// Throws std::invalid_argument, naming the path and what is wrong with it, unless it is an absolute node path as
/// ZooKeeper takes it: "/" or "/a/b", no empty, "." or ".." parts, no trailing slash, no control characters, at most 32
/// KiB.
void check_node_path(const std::string& path);

/// "/a/b" -> "/a"; "/a" -> "/".
std::string parent_of(const std::string& path);

/// "/a/b" -> "b". Refers to `path`.
std::string_view name_of(std::string_view path);

/// join("/a", "b") -> "/a/b"; join("/", "b") -> "/b".
std::string join(std::string_view parent, std::string_view name);

/// "/a/b/c" -> {"/a", "/a/b", "/a/b/c"}; "/" -> {}.
std::vector<std::string> with_ancestors(const std::string& path);

}  // namespace zkrecipes::detail
