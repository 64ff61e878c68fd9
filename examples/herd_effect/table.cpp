// SPDX-License-Identifier: Apache-2.0
#include "examples/herd_effect/table.h"

#include <iomanip>
#include <sstream>

namespace herd_effect {
namespace {

std::string decimal(double value, int digits) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << value;
  return text.str();
}

std::string difference(const RaceLog& log, long ServerCounters::*counter) {
  if (!log.before || !log.after || (*log.before).*counter < 0 || (*log.after).*counter < 0) return "not told";
  return std::to_string((*log.after).*counter - (*log.before).*counter);
}

}  // namespace

const char* const kHowCounted =
    "Watch events and failed creates: AcquisitionCost of each hold, while all contend. Packets, bytes and watch "
    "events\n"
    "on deletion: the server's own counters, four-letter word mntr before and after (echo mntr | nc HOST PORT).";

std::vector<Row> make_table(const Races& races) {
  std::vector<Row> table;
  const auto row = [&](const std::string& what, const auto& value) {
    table.push_back({what, {}});
    for (const RaceLog& log : races) table.back().values.push_back(value(log, evaluate(log)));
  };
  const auto number = [&](const std::string& what, auto Result::*figure) {
    row(what, [&](const RaceLog&, const Result& result) { return std::to_string(result.*figure); });
  };
  const auto with_decimals = [&](const std::string& what, double Result::*figure) {
    row(what, [&](const RaceLog&, const Result& result) { return decimal(result.*figure, 2); });
  };
  const auto server = [&](const std::string& what, long ServerCounters::*counter) {
    row("server: " + what, [&](const RaceLog& log, const Result&) { return difference(log, counter); });
  };
  row("times the lock was taken", [](const RaceLog& log, const Result&) { return std::to_string(log.turns.size()); });
  with_decimals("watch events per release", &Result::events_per_release);
  number("watch events, most after one release", &Result::most_events);
  number("creates that failed", &Result::failed_creates);
  server("watch events on deletion", &ServerCounters::deletion_events);
  server("packets received", &ServerCounters::packets_received);
  server("packets sent", &ServerCounters::packets_sent);
  server("bytes received", &ServerCounters::bytes_received);
  server("bytes sent", &ServerCounters::bytes_sent);
  with_decimals("seconds until all were served once", &Result::all_served);
  with_decimals("seconds until all went home", &Result::whole_time);
  with_decimals("longest wait, seconds", &Result::longest_wait);
  number("different contenders in the first " + std::to_string(races.front().contenders) + " turns",
         &Result::first_come);
  number("overtaken by a later one (pairs)", &Result::overtakings);
  return table;
}

std::string as_text(const std::vector<Row>& table) {
  std::ostringstream text;
  const auto line = [&](const std::string& what, const auto& values, const auto& cell) {
    text << std::left << std::setw(44) << what << std::right;
    for (const auto& value : values) text << std::setw(14) << cell(value);
    text << '\n';
  };
  line("", kLockKinds, title_of);
  for (const Row& row : table) line(row.what, row.values, [](const std::string& value) { return value; });
  return text.str();
}

std::string as_html(const std::vector<Row>& table) {
  std::ostringstream html;
  html << "<table>\n<tr><th></th>";
  for (const LockKind lock : kLockKinds) html << "<th>" << title_of(lock) << "</th>";
  html << "</tr>\n";
  for (const Row& row : table) {
    html << "<tr><td>" << row.what << "</td>";
    for (const std::string& value : row.values) html << "<td>" << value << "</td>";
    html << "</tr>\n";
  }
  html << "</table>\n";
  return html.str();
}

std::string conclusion(const Races& races) {
  const auto events = [&](LockKind lock) {
    return decimal(evaluate(races.at(static_cast<std::size_t>(lock))).events_per_release, 1);
  };
  return "With " + std::to_string(races.front().contenders) + " contenders, a release of the simple lock wakes " +
         events(LockKind::simple) +
         " of them and all but one have raced for nothing; a release of the fair mutex wakes " +
         events(LockKind::fair) + ": the one whose turn it is; with look-ahead it wakes " +
         events(LockKind::look_ahead) + ": that one, and the one behind it, which moves up.";
}

}  // namespace herd_effect
