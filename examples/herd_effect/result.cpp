// SPDX-License-Identifier: Apache-2.0
#include "examples/herd_effect/result.h"

#include <algorithm>
#include <map>
#include <set>

namespace herd_effect {
namespace {

/// When the lock became free: first at 0, when it was opened to all.
std::vector<double> release_times(const RaceLog& log) {
  std::vector<double> times{0.0};
  for (const Turn& turn : log.turns) times.push_back(turn.released);
  return times;
}

std::vector<double> first_turns(const RaceLog& log) {
  std::vector<double> first(static_cast<std::size_t>(log.contenders), -1);
  for (const Turn& turn : log.turns) {
    double& time = first[static_cast<std::size_t>(turn.contender)];
    if (time < 0) time = turn.granted;
  }
  return first;
}

}  // namespace

const char* title_of(LockKind lock) {
  switch (lock) {
    case LockKind::simple:
      return "simple lock";
    case LockKind::fair:
      return "fair mutex";
    case LockKind::look_ahead:
      return "look-ahead";
  }
  return "";
}

const char* name_of(LockKind lock) {
  switch (lock) {
    case LockKind::simple:
      return "simple";
    case LockKind::fair:
      return "fair";
    case LockKind::look_ahead:
      return "look_ahead";
  }
  return "";
}

std::vector<double> wakeup_times(const Turn& turn, const RaceLog& log) {
  const std::vector<double> releases = release_times(log);
  const auto begin = std::upper_bound(releases.begin(), releases.end(), turn.asked);
  const auto end = std::lower_bound(begin, releases.end(), turn.granted);
  const auto count = std::min<std::ptrdiff_t>(end - begin, turn.wakeups);
  return {end - count, end};  // the latest ones: events are missed only while the first watch is being set
}

Result evaluate(const RaceLog& log) {
  Result result;
  std::map<double, int> events;  // by time of release
  for (const double time : release_times(log)) events[time] = 0;
  for (const Turn& turn : log.turns) {
    for (const double time : wakeup_times(turn, log)) ++events[time];
    // A failed create is followed by a request to watch; only the last create succeeds.
    if (log.lock == LockKind::simple) result.failed_creates += (turn.requests - 1) / 2;
    result.longest_wait = std::max(result.longest_wait, turn.granted - std::max(0.0, turn.asked));
  }
  long sum = 0;
  auto event = events.begin();
  for (int i = 0; i < log.contended_turns && event != events.end(); ++i, ++event) {
    sum += event->second;
    result.most_events = std::max(result.most_events, event->second);
  }
  result.events_per_release = static_cast<double>(sum) / std::max(1, log.contended_turns);

  const std::vector<double> first = first_turns(log);
  result.all_served = *std::max_element(first.begin(), first.end());
  for (std::size_t i = 0; i < first.size(); ++i)
    result.overtakings +=
        static_cast<int>(std::count_if(first.begin() + static_cast<std::ptrdiff_t>(i) + 1, first.end(),
                                       [&](double later_comer) { return later_comer < first[i]; }));
  std::set<int> among_first;
  for (std::size_t i = 0; i < first.size() && i < log.turns.size(); ++i) among_first.insert(log.turns[i].contender);
  result.first_come = static_cast<int>(among_first.size());
  result.whole_time = log.turns.empty() ? 0 : log.turns.back().released;
  return result;
}

}  // namespace herd_effect
