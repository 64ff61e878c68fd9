// SPDX-License-Identifier: Apache-2.0
#include "recipes/node_name.h"

namespace zkrecipes::detail {

namespace {

struct Marker {
  std::string_view text;
  NodeKind kind;
};

// The sequence follows the last marker of a name. Curator looks for "lock-" without a dash in front. The most frequent
// one comes first: a long line is read at each hand-over.
constexpr Marker kMarkers[] = {{"lock-", NodeKind::lock},
                               {"__READ__", NodeKind::read},
                               {"__WRIT__", NodeKind::write},
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

constexpr std::string_view kProtection = "_c_";
constexpr std::size_t kMaxDigits = 10;

struct Sequence {
  std::string_view text;  // empty: none
  std::int64_t value = 0;
};

/// The sequence at the end of a name, as the server writes it: ten digits, or with a sign as many as it takes.
Sequence trailing_sequence(std::string_view name) {
  std::size_t digits = 0;
  std::int64_t value = 0;
  std::int64_t weight = 1;
  for (; digits < name.size(); ++digits) {
    const int digit = name[name.size() - digits - 1] - '0';
    if (digit < 0 || digit > 9) break;
    if (digits == kMaxDigits) return {};
    value += digit * weight;
    weight *= 10;
  }
  if (digits == 0 || digits == name.size()) return {};
  const std::size_t last_other = name.size() - digits - 1;
  // A tenth digit leaves the question whether a dash in front is a sign or the end of "lock-"; only after an overflow
  // do two stand there.
  const bool sign = name[last_other] == '-' && last_other > 0 &&
                    (digits < kMaxDigits || name[last_other - 1] == '-' || name[last_other - 1] == '_');
  if (digits < kMaxDigits && !sign) return {};
  return {name.substr(sign ? last_other : last_other + 1), sign ? -value : value};
}

}  // namespace

std::string protected_name(const std::string& guid, NodeKind kind) {
  std::string name(kProtection);
  name += guid;
  name += '-';
  name += marker_of(kind);
  return name;
}

std::string nth_guid(std::string guid, int n) {
  constexpr std::string_view kHexDigits = "0123456789abcdef";
  auto carry = static_cast<std::size_t>(n);
  for (auto digit = guid.rbegin(); digit != guid.rend() && carry != 0; ++digit) {
    const std::size_t value = kHexDigits.find(*digit);
    if (value == std::string_view::npos) break;
    carry += value;
    *digit = kHexDigits[carry % kHexDigits.size()];
    carry /= kHexDigits.size();
  }
  return guid;
}

std::string_view attempt_in(std::string_view name) {
  // All but the last group of the guid, to which nth_guid() adds.
  constexpr std::string_view kForm = "_c_xxxxxxxx-xxxx-xxxx-xxxx-";
  constexpr std::size_t kLastGroup = 12;
  const bool has_guid = name.size() > kForm.size() + kLastGroup && name.substr(0, kProtection.size()) == kProtection &&
                        name[kForm.size() - 1] == '-' && name[kForm.size() + kLastGroup] == '-';
  return has_guid ? name.substr(0, kForm.size()) : std::string_view();
}

bool is_protected_by(std::string_view name, std::string_view guid) {
  const std::size_t begin = kProtection.size();
  return name.size() > begin + guid.size() && name[begin + guid.size()] == '-' &&
         name.compare(begin, guid.size(), guid) == 0;
}

std::optional<NodeName> parse_node_name(std::string_view name) {
  const Sequence sequence = trailing_sequence(name);
  if (sequence.text.empty()) return std::nullopt;
  const std::string_view front = name.substr(0, name.size() - sequence.text.size());
  for (const Marker& marker : kMarkers)
    if (ends_with(front, marker.text)) return NodeName{name, marker.kind, sequence.value, sequence.text};
  // ZooKeeper's own recipe: "x-<session>-<sequence>".
  if (front.size() > 2 && front.substr(0, 2) == "x-" && front.back() == '-')
    return NodeName{name, NodeKind::lock, sequence.value, sequence.text};
  return std::nullopt;
}

}  // namespace zkrecipes::detail
