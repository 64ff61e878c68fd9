// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>
#include <zkrecipes/contenders.h>

namespace zklock {

using Contenders = std::vector<zkrecipes::Contender>;

/// "1 holds, 3 wait"; "free", with why that is not certain.
std::string summary(const zkrecipes::LockListing& lock);

/// A line for each contender, in queue order, below headings. Long identities and notes are shortened. `now` by the
/// clock of this machine. A `width` (0: none) that is too small for all columns leaves out those that can be done
/// without; lines that are still too long are cut.
std::string listing(const Contenders& line, const std::string& path, std::chrono::system_clock::time_point now,
                    std::size_t width = 0);

/// What the listing does not show, in sentences: nodes that are not understood, and nodes that nobody will remove.
std::vector<std::string> remarks(const zkrecipes::LockListing& lock);

/// The same as one JSON object. Tokens are text: they have 64 bits, and many programs read numbers with 53.
std::string listing_json(const zkrecipes::LockListing& lock, const std::string& path);

/// What has happened between two listings, one line for each contender that came, left, was granted the lock
/// or asked to give it up.
std::vector<std::string> changes(const Contenders& before, const Contenders& after);

}  // namespace zklock
