// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace zklock {

enum class Loudness { quiet, normal, verbose };
void set_loudness(Loudness loudness) noexcept;
Loudness loudness() noexcept;

/// One line on standard error that begins with "zklock: ". Thread-safe: lines do not mix. complain() writes always,
/// say() not with -q. Neither waits for longer than a tenth of a second: where nobody reads, for example from a pipe
/// that is full, the line is dropped, since locks and commands must not wait for it.
void complain(const std::string& line);
void say(const std::string& line);

}  // namespace zklock
