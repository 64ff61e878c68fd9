// SPDX-License-Identifier: Apache-2.0
#include "connection/touch_history.h"

#include <algorithm>

namespace zkrecipes::detail {

namespace {
// Half a tick, for a timeout of three ticks or more. The length of a tick is not known here.
LeaseClock::duration half_tick(LeaseClock::duration timeout) {
  return timeout / 6;
}
}  // namespace

void TouchHistory::connected(Time sent) {
  connected_ = sent;
  all_.clear();
  by_leader_.clear();
}

void TouchHistory::answered(Time sent, Time now, bool by_leader, LeaseClock::duration timeout) {
  add(all_, sent, now, timeout);
  if (by_leader) add(by_leader_, sent, now, timeout);
}

/// Answers that come close together make one entry, which counts from the last of them.
void TouchHistory::add(Entries& entries, Time sent, Time now, LeaseClock::duration timeout) {
  if (!entries.empty() && now - entries.back().began < timeout / 100) {
    entries.back().answered = now;
    entries.back().sent = std::max(entries.back().sent, sent);
    return;
  }
  // Older ones are of no use: the lease that they would give is over.
  while (!entries.empty() && now - entries.front().answered > timeout) entries.pop_front();
  entries.push_back({now, now, sent});
}

const TouchHistory::Entry* TouchHistory::newest_answered_by(const Entries& entries, Time time) {
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry)
    if (entry->answered <= time) return &*entry;
  return nullptr;
}

TouchHistory::Time TouchHistory::known_to_leader(Time write_sent, LeaseClock::duration timeout) const {
  const Entry* const earlier = newest_answered_by(by_leader_, write_sent);
  if (earlier == nullptr) return connected_;
  const Entry* const reported = newest_answered_by(all_, earlier->sent - half_tick(timeout));
  return reported == nullptr ? connected_ : std::max(connected_, reported->sent);
}

}  // namespace zkrecipes::detail
