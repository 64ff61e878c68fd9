// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>
#include <zkrecipes/connection.h>

#include "examples/herd_effect/progress.h"
#include "examples/herd_effect/result.h"

namespace herd_effect {

struct RaceSpec {
  LockKind lock = LockKind::simple;
  int contenders = 0;
  int rounds = 0;                    ///< turns per contender, on average, while all contend
  std::chrono::milliseconds work{};  ///< under the lock
  std::string servers;               ///< whose counters to read
};

/// Somebody holds the lock until all contenders wait, one after the other, so that the order of arrival is known. Then
/// it is opened. A contender that has had a turn asks again at once, until there were rounds * contenders turns; those
/// that still wait then are served once more.
///
/// `connections`: the first is for the opener, then one for each contender.
RaceLog run_race(const RaceSpec& spec, const std::vector<std::shared_ptr<zkrecipes::Connection>>& connections,
                 Progress& progress);

}  // namespace herd_effect
