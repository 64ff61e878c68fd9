// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace zklock {

/// Writes one JSON text, value by value. Bytes that are not UTF-8 are written as U+FFFD, and
/// characters that a terminal would obey are escaped.
///
///     Json json;
///     json.begin_object();
///     json.member("path", "/locks/a");
///     json.key("waiters");
///     json.begin_array();
///     ...
class Json {
 public:
  void begin_object() { begin('{'); }
  void end_object() { end('}'); }
  void begin_array() { begin('['); }
  void end_array() { end(']'); }
  void key(std::string_view name);

  void value(std::string_view text);
  void value(const char* text) { value(std::string_view(text)); }
  void value(std::int64_t number) { write(std::to_string(number)); }
  void value(int number) { value(static_cast<std::int64_t>(number)); }
  void value(double number);
  void value(bool truth) { write(truth ? "true" : "false"); }
  void null() { write("null"); }

  template <class Value>
  void member(std::string_view name, const Value& content) {
    key(name);
    value(content);
  }

  const std::string& text() const { return text_; }

 private:
  void begin(char bracket);
  void end(char bracket);
  void write(std::string_view raw);
  void separate();

  std::string text_;
  bool first_ = true;  // in the innermost array or object
};

}  // namespace zklock
