// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace zklock {

/// The length in bytes of the UTF-8 character that the text, which is not empty, begins with; 0 if it begins with none.
std::size_t character_length(std::string_view text);

/// The number of a character, if it is one that terminals obey: control characters, also those of C1, which UTF-8
/// writes as c2 80 to c2 9f; ends of lines; and those that change the direction in which text is shown.
std::optional<unsigned> control_code(std::string_view character);

/// What other programs have written, made safe for a terminal: control characters are escaped ("\x1b"), so that a note
/// cannot move the cursor or change the colours; bytes that are not UTF-8 become "?".
std::string printable(std::string_view text);

/// How many columns of a terminal the text takes. Characters of East Asia take two, accents of their own none.
std::size_t columns(std::string_view text);
/// At most so many columns; "..." at the end where something was left out.
std::string shortened(const std::string& text, std::size_t width);

/// "0x1000a2b3c4d0001", as ZooKeeper's own tools write it.
std::string session_text(std::int64_t session);

/// "2024-05-01 03:00:07", in local time.
std::string local_time(std::chrono::system_clock::time_point time);
/// "2024-05-01T01:00:07.123Z".
std::string utc_time(std::chrono::system_clock::time_point time);

}  // namespace zklock
