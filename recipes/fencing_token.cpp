// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/fencing_token.h"

#include <charconv>
#include <ostream>

namespace zkrecipes {

namespace {

/// Decimal digits without sign or leading zeros, so that each number has one spelling.
template <class Number>
std::optional<Number> parse_number(const char* begin, const char* end) {
  if (begin == end || *begin < '0' || *begin > '9' || (*begin == '0' && end - begin > 1)) return std::nullopt;
  Number number{};
  const auto [stop, error] = std::from_chars(begin, end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

}  // namespace

std::string FencingToken::to_string() const {
  const std::string text = std::to_string(zxid);
  return version == 0 ? text : text + "." + std::to_string(version);
}

std::optional<FencingToken> FencingToken::parse(const std::string& text) {
  const char* const end = text.data() + text.size();
  const std::size_t dot = text.find('.');
  const char* const zxid_end = dot == std::string::npos ? end : text.data() + dot;
  const auto zxid = parse_number<std::int64_t>(text.data(), zxid_end);
  if (!zxid) return std::nullopt;
  if (dot == std::string::npos) return FencingToken{*zxid, 0};
  const auto version = parse_number<std::int32_t>(zxid_end + 1, end);
  if (!version || *version == 0) return std::nullopt;
  return FencingToken{*zxid, *version};
}

std::ostream& operator<<(std::ostream& out, const FencingToken& token) {
  return out << token.to_string();
}

}  // namespace zkrecipes
