// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "zkrecipes/connection.h"
#include "zkrecipes/fencing_token.h"

namespace zkrecipes {

enum class LockMode { exclusive, read, write, permit };

const char* to_string(LockMode mode) noexcept;

/// Somebody who holds a lock or waits for it, of whichever client library.
struct Contender {
  std::string node;
  std::string identity;  ///< what the client wrote about itself; a revocation request overwrites it
  std::int64_t session = 0;
  FencingToken token;
  std::chrono::system_clock::time_point since;  ///< by the server's clock
  LockMode mode = LockMode::exclusive;
  bool holds = false;
};

/// Who stands in line at a lock path of any recipe, in queue order; empty when nobody does. A snapshot: nodes may come
/// and go while it is taken. Of a semaphore: all who have a permit or are being given one, then who waits; who of the
/// former holds is known only to those who know the number of permits, so `holds` is true for all of them.
std::vector<Contender> contenders(Connection& connection, const std::string& path);

}  // namespace zkrecipes
