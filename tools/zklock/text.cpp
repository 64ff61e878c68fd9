// SPDX-License-Identifier: Apache-2.0
#include "tools/zklock/text.h"

#include <algorithm>
#include <clocale>
#include <cstdio>
#include <ctime>
#include <cwchar>

namespace zklock {
namespace {

/// Of three or four bytes: neither longer than needed, nor half of a pair of UTF-16, nor beyond the last character.
bool is_allowed_beginning(unsigned char first, unsigned char second) {
  if (first == 0xe0) return second >= 0xa0;
  if (first == 0xed) return second < 0xa0;
  if (first == 0xf0) return second >= 0x90;
  return first != 0xf4 || second < 0x90;
}

/// The number of a character that character_length() has found.
unsigned code_of(std::string_view character) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(character[at]); };
  constexpr unsigned kBitsOfFirst[] = {0x7f, 0x1f, 0x0f, 0x07};
  unsigned code = byte(0) & kBitsOfFirst[character.size() - 1];
  for (std::size_t at = 1; at < character.size(); ++at) code = (code << 6U) + (byte(at) & 0x3fU);
  return code;
}

/// Asks the C library in a locale of UTF-8, whatever the one of the user is: the text is UTF-8.
std::size_t columns_of(std::string_view character) {
  static const locale_t utf8 = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  if (character.size() == 1 || utf8 == nullptr) return 1;
  const locale_t before = ::uselocale(utf8);
  const int width = ::wcwidth(static_cast<wchar_t>(code_of(character)));
  ::uselocale(before);
  return width < 0 ? 1 : static_cast<std::size_t>(width);
}

/// The first character, or the first byte of what is not UTF-8.
std::string_view first_of(std::string_view text) {
  return text.substr(0, std::max<std::size_t>(character_length(text), 1));
}

}  // namespace

std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char first = byte(0);
  std::size_t length = 0;
  if (first < 0x80) length = 1;
  if (first >= 0xc2 && first < 0xe0) length = 2;
  if ((first & 0xf0) == 0xe0) length = 3;
  if (first >= 0xf0 && first < 0xf5) length = 4;
  if (length > text.size()) return 0;
  for (std::size_t at = 1; at < length; ++at)
    if ((byte(at) & 0xc0) != 0x80) return 0;
  return length > 2 && !is_allowed_beginning(first, byte(1)) ? 0 : length;
}

std::optional<unsigned> control_code(std::string_view character) {
  const unsigned code = code_of(character);
  const bool control = code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x2028 && code <= 0x202e) ||
                       (code >= 0x2066 && code <= 0x2069);
  return control ? std::optional(code) : std::nullopt;
}

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    const std::string_view character = text.substr(0, length == 0 ? 1 : length);
    text.remove_prefix(character.size());
    if (length == 0) {
      result += '?';
    } else if (const auto code = control_code(character)) {
      char escaped[16];
      std::snprintf(escaped, sizeof escaped, *code < 0x100 ? "\\x%02x" : "\\u%04x", *code);
      result += escaped;
    } else {
      result += character;
    }
  }
  return result;
}

std::size_t columns(std::string_view text) {
  std::size_t count = 0;
  while (!text.empty()) {
    const std::string_view character = first_of(text);
    count += columns_of(character);
    text.remove_prefix(character.size());
  }
  return count;
}

std::string shortened(const std::string& text, std::size_t width) {
  if (columns(text) <= width) return text;
  const std::string dots(width < 3 ? width : 3, '.');
  std::string result;
  std::size_t taken = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view character = first_of(rest);
    taken += columns_of(character);
    if (taken + dots.size() > width) break;
    result += character;
    rest.remove_prefix(character.size());
  }
  return result + dots;
}

std::string session_text(std::int64_t session) {
  char buffer[24];
  std::snprintf(buffer, sizeof buffer, "0x%llx", static_cast<unsigned long long>(session));
  return buffer;
}

std::string local_time(std::chrono::system_clock::time_point time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  ::localtime_r(&seconds, &parts);
  char buffer[32];
  return {buffer, std::strftime(buffer, sizeof buffer, "%Y-%m-%d %H:%M:%S", &parts)};
}

std::string utc_time(std::chrono::system_clock::time_point time) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(time);
  const std::time_t seconds = std::chrono::system_clock::to_time_t(whole);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char buffer[32];
  std::strftime(buffer, sizeof buffer, "%Y-%m-%dT%H:%M:%S", &parts);
  char fraction[8];
  std::snprintf(fraction, sizeof fraction, ".%03dZ",
                static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(time - whole).count()));
  return std::string(buffer) + fraction;
}

}  // namespace zklock
