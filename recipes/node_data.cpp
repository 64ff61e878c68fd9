// SPDX-License-Identifier: Apache-2.0
#include "recipes/node_data.h"

#include <algorithm>

namespace zkrecipes::detail {

namespace {

constexpr std::string_view kRevokeRequest = "__REVOKE__";
constexpr std::string_view kNote = "note=";
constexpr std::string_view kToken = "token=";
constexpr char kEscape = '\\';

std::string_view first_line(std::string_view data) {
  return data.substr(0, data.find('\n'));
}

/// Empty where there is only one.
std::string_view second_line(std::string_view data) {
  const std::size_t end = data.find('\n');
  return end == std::string_view::npos ? std::string_view() : first_line(data.substr(end + 1));
}

/// Empty where there is only one.
std::string_view last_line(std::string_view data) {
  const std::size_t end = data.rfind('\n');
  return end == std::string_view::npos ? std::string_view() : data.substr(end + 1);
}

/// "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", as make_guid() writes it.
bool is_guid(std::string_view text) {
  constexpr std::string_view kForm = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
  return std::equal(text.begin(), text.end(), kForm.begin(), kForm.end(), [](char actual, char form) {
    if (form == '-') return actual == '-';
    return (actual >= '0' && actual <= '9') || (actual >= 'a' && actual <= 'f');
  });
}

std::string in_one_line(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  for (const char each : text) {
    if (each == kEscape || each == '\n') line += kEscape;
    line += each == '\n' ? 'n' : each;
  }
  return line;
}

/// The reverse. Escapes that in_one_line() does not write are left as they are.
std::string from_one_line(std::string_view line) {
  std::string text;
  text.reserve(line.size());
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char next = line[at] == kEscape && at + 1 < line.size() ? line[at + 1] : '\0';
    const bool escaped = next == kEscape || next == 'n';
    text += escaped && next == 'n' ? '\n' : line[at];
    if (escaped) ++at;
  }
  return text;
}

}  // namespace

std::string data_for_people(const std::string& identity, const std::string& note) {
  if (note.empty()) return identity;
  return identity + '\n' + std::string(kNote) + in_one_line(note);
}

std::string data_with_guid(const std::string& for_people, const std::string& guid) {
  return for_people + '\n' + guid;
}

std::string data_with_token(const std::string& for_people, const FencingToken& token) {
  return for_people + '\n' + std::string(kToken) + token.to_string();
}

std::string_view identity_in(std::string_view data) {
  return asks_to_revoke(data) ? std::string_view() : first_line(data);
}

std::string note_in(std::string_view data) {
  const std::string_view line = second_line(data);
  if (asks_to_revoke(data) || line.substr(0, kNote.size()) != kNote) return {};
  return from_one_line(line.substr(kNote.size()));
}

std::optional<FencingToken> token_in(std::string_view data) {
  const std::string_view line = last_line(data);
  if (line.substr(0, kToken.size()) != kToken) return std::nullopt;
  return FencingToken::parse(std::string(line.substr(kToken.size())));
}

bool has_guid(std::string_view data) {
  return is_guid(last_line(data));
}

bool asks_to_revoke(std::string_view data) {
  return first_line(data) == kRevokeRequest;
}

std::string revoke_request_for(std::string_view data) {
  std::string request(kRevokeRequest);
  const std::string_view line = last_line(data);
  if (is_guid(line) || token_in(data)) {
    request += '\n';
    request += line;
  }
  return request;
}

}  // namespace zkrecipes::detail
