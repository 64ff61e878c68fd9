// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "examples/herd_effect/server_counters.h"

namespace herd_effect {

enum class LockKind { simple, fair, look_ahead };
constexpr LockKind kLockKinds[] = {LockKind::simple, LockKind::fair, LockKind::look_ahead};

const char* title_of(LockKind lock);  ///< for people: "fair mutex"
const char* name_of(LockKind lock);   ///< for paths and data sets: "fair"

/// One contender's way to the lock. Times in seconds since the lock was first opened to all.
struct Turn {
  int contender = 0;  ///< in order of arrival, from 0
  double asked = 0;
  double granted = 0;
  double released = 0;
  int wakeups = 0;   ///< AcquisitionCost
  int requests = 0;  ///< AcquisitionCost
};

/// The events of one race.
struct RaceLog {
  LockKind lock = LockKind::simple;
  int contenders = 0;
  int contended_turns = 0;  ///< as many turns ended while everybody else waited; then they went home one by one
  std::vector<Turn> turns;  ///< in the order in which the lock was granted
  std::optional<ServerCounters> before;
  std::optional<ServerCounters> after;
};

/// The races of one size, in the order of kLockKinds.
using Races = std::vector<RaceLog>;

/// The figures of one race.
struct Result {
  double events_per_release = 0;  ///< while all contend
  int most_events = 0;            ///< after one release
  long failed_creates = 0;
  double all_served = 0;    ///< seconds until each had the lock once
  double whole_time = 0;    ///< seconds
  double longest_wait = 0;  ///< seconds
  int first_come = 0;       ///< different contenders among the first n turns
  int overtakings = 0;      ///< pairs of which the one that came later had its first turn earlier
};

/// The moments at which a waiter woke, oldest first. The number is what AcquisitionCost counted; the times are those of
/// the releases, because a watch event is the server's word for a release.
std::vector<double> wakeup_times(const Turn& turn, const RaceLog& log);

Result evaluate(const RaceLog& log);

}  // namespace herd_effect
