// SPDX-License-Identifier: Apache-2.0
#include "recipes/node_data.h"

#include <algorithm>

namespace zkrecipes::recipes {

namespace {

constexpr std::string_view kRevokeRequest = "__REVOKE__";
constexpr std::string_view kToken = "token=";

std::string_view first_line(std::string_view data) {
  return data.substr(0, data.find('\n'));
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

}  // namespace

std::string data_with_guid(const std::string& identity, const std::string& guid) {
  return identity + '\n' + guid;
}

std::string data_with_token(const std::string& identity, const FencingToken& token) {
  return identity + '\n' + std::string(kToken) + token.to_string();
}

std::string_view identity_in(std::string_view data) {
  return asks_to_revoke(data) ? std::string_view() : first_line(data);
}

std::optional<FencingToken> token_in(std::string_view data) {
  const std::string_view line = last_line(data);
  if (line.substr(0, kToken.size()) != kToken) return std::nullopt;
  return FencingToken::parse(std::string(line.substr(kToken.size())));
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

}  // namespace zkrecipes::recipes
