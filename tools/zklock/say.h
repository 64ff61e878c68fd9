// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace zklock {

enum class Loudness { quiet, normal, verbose };
void set_loudness(Loudness loudness) noexcept;
Loudness loudness() noexcept;

/// One line on standard error that begins with "zklock: ". Thread-safe: lines do not mix. complain() writes always,
/// say() not with -q.
void complain(const std::string& line);
void say(const std::string& line);

}  // namespace zklock
