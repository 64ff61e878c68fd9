// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>
#include <zkrecipes/contenders.h>

namespace zklock {

using Contenders = std::vector<zkrecipes::Contender>;

/// "1 holds, 3 wait".
std::string summary(const Contenders& line);

/// A line for each contender, in queue order, below headings. `now` by the clock of this machine.
std::string listing(const Contenders& line, const std::string& path, std::chrono::system_clock::time_point now,
                    std::size_t width = 0);

/// The same as one JSON object. Tokens are text: they have 64 bits, and many programs read numbers with 53.
std::string listing_json(const Contenders& line, const std::string& path);

/// What has happened between two listings, one line for each contender that came, left or was granted the lock.
std::vector<std::string> changes(const Contenders& before, const Contenders& after);

}  // namespace zklock
