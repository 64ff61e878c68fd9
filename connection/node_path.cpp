// SPDX-License-Identifier: Apache-2.0
#include "connection/node_path.h"

#include <stdexcept>

namespace zkrecipes::connection {

namespace {

[[noreturn]] void reject(const std::string& path, const std::string& why) {
  throw std::invalid_argument("zkrecipes: node path \"" + path + "\" " + why);
}

// The server refuses these code points; the C client would send them all the same.
bool is_forbidden(unsigned char c) {
  return c < 0x20 || c == 0x7f;
}

}  // namespace

void check_node_path(const std::string& path) {
  if (path.empty()) reject(path, "is empty; give an absolute path such as \"/locks/orders\"");
  if (path.front() != '/') reject(path, "is relative; it must begin with \"/\"");
  if (path.size() > 1 && path.back() == '/') reject(path, "must not end with \"/\"");
  for (const char c : path)
    if (is_forbidden(static_cast<unsigned char>(c))) reject(path, "contains a control character");
  std::size_t begin = 1;
  while (begin < path.size()) {
    std::size_t end = path.find('/', begin);
    if (end == std::string::npos) end = path.size();
    const std::string part = path.substr(begin, end - begin);
    if (part.empty()) reject(path, "has an empty part (\"//\")");
    if (part == "." || part == "..") reject(path, "has a relative part (\"" + part + "\")");
    begin = end + 1;
  }
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string name_of(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

std::string join(const std::string& parent, const std::string& name) {
  return parent == "/" ? parent + name : parent + "/" + name;
}

std::vector<std::string> with_ancestors(const std::string& path) {
  std::vector<std::string> paths;
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1))
    paths.push_back(path.substr(0, slash));
  if (path != "/") paths.push_back(path);
  return paths;
}

}  // namespace zkrecipes::connection
