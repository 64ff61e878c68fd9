// SPDX-License-Identifier: Apache-2.0
#include "recipes/node_name.h"

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

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// The sequence at the end of a name, as the server writes it: ten digits, or with a sign as many as it takes.
std::string_view trailing_sequence(std::string_view name) {
  const std::size_t last_other = name.find_last_not_of("0123456789");
  const std::size_t digits = last_other == std::string_view::npos ? name.size() : name.size() - last_other - 1;
  if (digits == 0 || digits > 10 || last_other == std::string_view::npos) return {};
  // A tenth digit leaves the question whether a dash in front is a sign or the end of "lock-"; only after an overflow
  // do two stand there.
  const bool sign = name[last_other] == '-' && last_other > 0 &&
                    (digits < 10 || name[last_other - 1] == '-' || name[last_other - 1] == '_');
  if (digits < 10 && !sign) return {};
  return name.substr(sign ? last_other : last_other + 1);
}

}  // namespace

std::string protected_name(const std::string& guid, NodeKind kind) {
  return "_c_" + guid + "-" + marker_of(kind);
}

std::optional<NodeName> parse_node_name(std::string_view name) {
  const std::string_view digits = trailing_sequence(name);
  if (digits.empty()) return std::nullopt;
  const std::string_view front = name.substr(0, name.size() - digits.size());
  std::int64_t sequence = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), sequence);
  for (const Marker& marker : kMarkers)
    if (ends_with(front, marker.text)) return NodeName{name, marker.kind, sequence, digits};
  // ZooKeeper's own recipe: "x-<session>-<sequence>".
  if (front.size() > 2 && front.substr(0, 2) == "x-" && front.back() == '-')
    return NodeName{name, NodeKind::lock, sequence, digits};
  return std::nullopt;
}

}  // namespace zkrecipes::recipes
