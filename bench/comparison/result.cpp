// SPDX-License-Identifier: Apache-2.0
#include "bench/comparison/result.h"

#include <algorithm>
#include <functional>
#include <iomanip>
#include <sstream>

namespace comparison {
namespace {

std::string decimal(double value, int digits) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << value;
  return text.str();
}

std::string duration(Milliseconds time) {
  return time.count() < 1000 ? decimal(time.count(), 0) + " ms" : decimal(time.count() / 1000, 1) + " s";
}

Milliseconds median(std::vector<Milliseconds> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Both send what keeps a lease alive, if there is one; only one who polls sends more while it waits.
bool polls(const Waiting& waiting) {
  constexpr double kNoise = 2;
  return waiting.requests_per_second > waiting.requests_per_second_holding + kNoise;
}

bool came_in_order(const std::vector<int>& served) {
  return std::is_sorted(served.begin(), served.end());
}

std::string list_titles(const std::vector<RowResult>& rows, const std::function<bool(const RowResult&)>& chosen) {
  std::string list;
  for (const RowResult& row : rows)
    if (chosen(row)) list += (list.empty() ? "" : "; ") + row.title;
  return list.empty() ? "none" : list;
}

}  // namespace

std::string describe(const Death& death) {
  return death.freed_after ? "free after " + duration(*death.freed_after) : "never (" + duration(death.watched) + ")";
}

std::string describe_holders(const Pause& pause) {
  return pause.two_holders ? "two holders" : "one; other waits (" + duration(pause.watched) + ")";
}

std::string describe_update(const Pause& pause) {
  const std::string outcome = pause.lost ? "LOST" : "none lost";
  return pause.refused ? "late write refused, " + outcome : outcome;
}

std::string describe(const Failure& failure) {
  if (!failure.tried) return "not tried";
  if (!failure.next_after)
    return failure.what + (failure.first_believes ? ": holder keeps it" : ": lost, holder told; nobody has it");
  return failure.what + (failure.first_believes ? ": two holders" : ": lost, holder told; next") + " after " +
         duration(*failure.next_after);
}

std::string describe_waking(const Waiting& waiting) {
  if (!waiting.requests_per_second) return "unknown";
  return polls(waiting) ? "polling" : "event";
}

std::string describe_delay(const Waiting& waiting) {
  if (waiting.wake_ups.empty()) return "unknown";
  const auto [least, most] = std::minmax_element(waiting.wake_ups.begin(), waiting.wake_ups.end());
  return decimal(median(waiting.wake_ups).count(), 1) + " ms (" + decimal(least->count(), 1) + " to " +
         decimal(most->count(), 1) + ")";
}

std::string describe_order(const Waiting& waiting) {
  const auto& rounds = waiting.rounds;
  const auto kept = std::count_if(rounds.begin(), rounds.end(), came_in_order);
  std::string text = std::to_string(kept) + " of " + std::to_string(rounds.size());
  const auto broken = std::find_if_not(rounds.begin(), rounds.end(), came_in_order);
  if (broken == rounds.end()) return text;
  text += " (once";
  for (const int who : *broken) text += " " + std::to_string(who + 1);
  return text + ")";
}

std::string describe_token(const Waiting& waiting) {
  if (waiting.tokens.empty()) return "none";
  const auto& tokens = waiting.tokens;
  const bool grows = std::adjacent_find(tokens.begin(), tokens.end(), std::greater_equal<>()) == tokens.end();
  return (grows ? "grows, " : "DOES NOT GROW, ") + std::to_string(tokens.size()) + " grants";
}

std::string describe_requests(const Waiting& waiting) {
  return waiting.requests_per_second ? decimal(*waiting.requests_per_second, 1) : "not counted";
}

std::string conclusion(const std::vector<RowResult>& rows) {
  return "Still locked after the holder's death: " +
         list_titles(rows, [](const RowResult& row) { return !row.death.freed_after; }) +
         ".\nTwo holders when the first is paused: " +
         list_titles(rows, [](const RowResult& row) { return row.pause.two_holders; }) +
         ".\nOf these without a lost update: " +
         list_titles(rows, [](const RowResult& row) { return row.pause.two_holders && !row.pause.lost; }) +
         ".\nNo lease can keep a paused holder from writing late; a store that checks a growing token can.";
}

}  // namespace comparison
