// SPDX-License-Identifier: Apache-2.0
#include "tools/zklock/duration.h"

#include <cmath>
#include <cstdlib>

#include "tools/zklock/exit_codes.h"

namespace zklock {
namespace {

/// Milliseconds in a unit; 0 if there is no such unit.
double unit_of(const std::string& name) {
  if (name == "ms") return 1;
  if (name.empty() || name == "s") return 1'000;
  if (name == "m" || name == "min") return 60'000;
  if (name == "h") return 3'600'000;
  if (name == "d") return 86'400'000;
  return 0;
}

std::string two(long long larger, const char* larger_unit, long long smaller, const char* smaller_unit) {
  std::string text = std::to_string(larger) + larger_unit;
  if (smaller != 0) text += " " + std::to_string(smaller) + smaller_unit;
  return text;
}

}  // namespace

std::chrono::milliseconds parse_duration(const std::string& text, const std::string& option) {
  constexpr double kYears = 100.0 * 365 * 86'400'000;
  // Only digits and a point: strtod also reads "inf", "nan" and hexadecimal numbers.
  const std::size_t length = text.find_first_not_of("0123456789.");
  const std::string number = text.substr(0, length);
  const double unit = unit_of(length == std::string::npos ? "" : text.substr(length));
  char* end = nullptr;
  const double value = std::strtod(number.c_str(), &end) * unit;
  if (number.empty() || number == "." || *end != '\0' || unit == 0 || value > kYears)
    throw Failure(kUsage, option + " must be a time such as 10, 1.5, 500ms, 10s, 5m, 2h or 1d, not '" + text + "'");
  return std::chrono::milliseconds(std::llround(value));
}

std::string to_text(std::chrono::milliseconds duration) {
  const long long ms = duration.count();
  if (ms < 0) return "-" + to_text(-duration);
  if (ms < 1'000) return std::to_string(ms) + " ms";
  const long long seconds = ms / 1'000;
  if (seconds < 10 && ms % 1'000 != 0) return std::to_string(seconds) + "." + std::to_string(ms % 1'000 / 100) + " s";
  if (seconds < 120) return std::to_string(seconds) + " s";
  const long long minutes = seconds / 60;
  if (minutes < 120) return std::to_string(minutes) + " min";
  const long long hours = minutes / 60;
  if (hours < 48) return two(hours, " h", minutes % 60, " min");
  return two(hours / 24, " d", hours % 24, " h");
}

}  // namespace zklock
