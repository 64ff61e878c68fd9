// SPDX-License-Identifier: Apache-2.0
#include "recipes/node_name.h"

#include <boost/uuid/random_generator.hpp>
#include <boost/uuid/uuid_io.hpp>
#include <charconv>

namespace zkrecipes::recipes {

namespace {

struct Marker {
  std::string_view text;
  NodeKind kind;
};

// The sequence follows the last marker of a name. Curator looks for "lock-" without a dash in front.
constexpr Marker kMarkers[] = {{"__READ__", NodeKind::read},
                               {"__WRIT__", NodeKind::write},
                               {"lock-", NodeKind::lock},
                               {"lease-", NodeKind::lease},
                               {"__lock__", NodeKind::lock}};

const char* marker_of(NodeKind kind) {
  switch (kind) {
    case NodeKind::lock:
      return "lock-";
    case NodeKind::read:
      return "__READ__";
    case NodeKind::write:
      return "__WRIT__";
    case NodeKind::lease:
      return "lease-";
  }
  return "";
}

/// Ten digits, or a sign and as many as it takes.
std::optional<std::int64_t> parse_sequence(std::string_view text) {
  const std::size_t sign = !text.empty() && text.front() == '-' ? 1 : 0;
  const std::size_t digits = text.size() - sign;
  if (digits == 0 || digits > 10 || (sign == 0 && digits != 10)) return std::nullopt;
  if (text.find_first_not_of("0123456789", sign) != std::string_view::npos) return std::nullopt;
  std::int64_t sequence = 0;
  std::from_chars(text.data(), text.data() + text.size(), sequence);
  return sequence;
}

}  // namespace

std::string make_guid() {
  thread_local boost::uuids::random_generator generator;
  return boost::uuids::to_string(generator());
}

std::string protected_name(const std::string& guid, NodeKind kind) {
  return "_c_" + guid + "-" + marker_of(kind);
}

std::optional<NodeName> parse_node_name(std::string_view name) {
  for (const Marker& marker : kMarkers) {
    const std::size_t at = name.rfind(marker.text);
    if (at == std::string_view::npos) continue;
    const std::string_view digits = name.substr(at + marker.text.size());
    if (const auto sequence = parse_sequence(digits)) return NodeName{name, marker.kind, *sequence, digits};
  }
  // ZooKeeper's own recipe: "x-<session>-<sequence>".
  if (name.rfind("x-", 0) == 0 && name.size() > 12) {
    const bool overflown = name[name.size() - 11] == '-' && name[name.size() - 12] == '-';
    const std::size_t length = overflown ? 11 : 10;
    const std::string_view digits = name.substr(name.size() - length);
    const auto sequence = parse_sequence(digits);
    if (sequence && name[name.size() - length - 1] == '-') return NodeName{name, NodeKind::lock, *sequence, digits};
  }
  return std::nullopt;
}

}  // namespace zkrecipes::recipes
