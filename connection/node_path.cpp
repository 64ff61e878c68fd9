// SPDX-License-Identifier: Apache-2.0
#include "connection/node_path.h"

#include <stdexcept>

namespace zkrecipes::detail {

namespace {

// A server drops the connection on a request above its jute.maxbuffer, and a path may be in a request several times.
constexpr std::size_t kMaxPathBytes = 32 * 1024;

[[noreturn]] void reject(const std::string& path, const std::string& why) {
  throw std::invalid_argument("zkrecipes: node path \"" + path + "\" " + why);
}

/// The code point that begins at `at`, which moves behind it; throws when it is not UTF-8.
char32_t next_code_point(const std::string& path, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return i < path.size() ? static_cast<unsigned char>(path[i]) : 0u; };
  const unsigned first = byte(at);
  const std::size_t length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (length == 0 || first > 0xf4) reject(path, "is not UTF-8");
  char32_t code = length == 1 ? first : first & (0x7fu >> length);
  for (std::size_t i = at + 1; i < at + length; ++i) {
    if ((byte(i) & 0xc0u) != 0x80u) reject(path, "is not UTF-8");
    code = code << 6 | (byte(i) & 0x3fu);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  if (overlong || (code >= 0xd800 && code <= 0xdfff)) reject(path, "is not UTF-8");
  at += length;
  return code;
}

/// What the server refuses; the C client would send it all the same.
void check_characters(const std::string& path) {
  for (std::size_t at = 0; at < path.size();) {
    const char32_t code = next_code_point(path, at);
    if (code < 0x20 || (code >= 0x7f && code <= 0x9f)) reject(path, "contains a control character");
    if ((code >= 0xe000 && code <= 0xf8ff) || code >= 0xfff0)
      reject(path, "contains a character that ZooKeeper does not allow in paths");
  }
}

}  // namespace

void check_node_path(const std::string& path) {
  if (path.empty()) reject(path, "is empty; give an absolute path such as \"/locks/orders\"");
  if (path.front() != '/') reject(path, "is relative; it must begin with \"/\"");
  if (path.size() > 1 && path.back() == '/') reject(path, "must not end with \"/\"");
  if (path.size() > kMaxPathBytes)
    throw std::invalid_argument("zkrecipes: a node path of " + std::to_string(path.size()) +
                                " bytes, beginning with \"" + path.substr(0, 40) + "\", is too long; at most " +
                                std::to_string(kMaxPathBytes) + " bytes are allowed");
  check_characters(path);
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

std::string_view name_of(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

std::string join(std::string_view parent, std::string_view name) {
  std::string path;
  path.reserve(parent.size() + 1 + name.size());
  path += parent;
  if (parent != "/") path += '/';
  path += name;
  return path;
}

std::vector<std::string> with_ancestors(const std::string& path) {
  std::vector<std::string> paths;
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1))
    paths.push_back(path.substr(0, slash));
  if (path != "/") paths.push_back(path);
  return paths;
}

}  // namespace zkrecipes::detail
