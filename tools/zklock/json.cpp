// SPDX-License-Identifier: Apache-2.0
#include "tools/zklock/json.h"

#include <cstdio>

#include "tools/zklock/text.h"

namespace zklock {

void Json::separate() {
  if (!first_) text_ += ',';
  first_ = false;
}

void Json::begin(char bracket) {
  separate();
  text_ += bracket;
  first_ = true;
}

void Json::end(char bracket) {
  text_ += bracket;
  first_ = false;
}

void Json::write(std::string_view raw) {
  separate();
  text_ += raw;
}

void Json::key(std::string_view name) {
  value(name);
  text_ += ':';
  first_ = true;
}

void Json::value(std::string_view text) {
  std::string quoted = "\"";
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    const std::string_view character = text.substr(0, length == 0 ? 1 : length);
    text.remove_prefix(character.size());
    if (length == 0) {
      quoted += "\\ufffd";
    } else if (const auto code = control_code(character)) {
      char escaped[16];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", *code);
      quoted += escaped;
    } else {
      if (character == "\"" || character == "\\") quoted += '\\';
      quoted += character;
    }
  }
  write(quoted + "\"");
}

void Json::value(double number) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.3f", number);
  write(buffer);
}

}  // namespace zklock
