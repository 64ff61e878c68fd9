// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "bench/comparison/locks/lock.h"

namespace comparison {

struct Design {
  std::string key;           ///< for the command line
  std::string title;         ///< for people
  bool fixed_lease = false;  ///< runs out while its holder is well, too: must be longer than the work
  bool fenced = false;       ///< the store looks at the token
};

/// The nine rows, in order.
const std::vector<Design>& designs();
/// Null if there is none.
const Design* find_design(const std::string& key);

/// `endpoints`: "host:port,...". Throws std::runtime_error if it must connect and cannot.
std::unique_ptr<Lock> make_lock(const Design& design, const std::string& endpoints, const std::string& name,
                                std::chrono::milliseconds lease);

}  // namespace comparison
