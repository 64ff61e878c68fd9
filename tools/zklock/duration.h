// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

namespace zklock {

/// "10", "1.5", "500ms", "10s", "5m", "2h", "1d"; without a unit: seconds. `option` is named in the message of the
/// Failure that anything else is refused with.
std::chrono::milliseconds parse_duration(const std::string& text, const std::string& option);

/// For people: "850 ms", "12 s", "3 min", "2 h 5 min", "4 d 1 h".
std::string to_text(std::chrono::milliseconds duration);

}  // namespace zklock
