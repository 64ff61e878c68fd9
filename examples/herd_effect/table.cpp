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

std::vector<Row> make_table(const RaceLog& simple, const RaceLog& fair) {
  const Result s = evaluate(simple);
  const Result f = evaluate(fair);
  const auto server = [&](const std::string& what, long ServerCounters::*counter) {
    return Row{what, difference(simple, counter), difference(fair, counter)};
  };
  const std::string n = std::to_string(simple.contenders);
  return {
      {"times the lock was taken", std::to_string(simple.turns.size()), std::to_string(fair.turns.size())},
      {"watch events per release", decimal(s.events_per_release, 2), decimal(f.events_per_release, 2)},
      {"watch events, most after one release", std::to_string(s.most_events), std::to_string(f.most_events)},
      {"creates that failed", std::to_string(s.failed_creates), std::to_string(f.failed_creates)},
      server("server: watch events on deletion", &ServerCounters::deletion_events),
      server("server: packets received", &ServerCounters::packets_received),
      server("server: packets sent", &ServerCounters::packets_sent),
      server("server: bytes received", &ServerCounters::bytes_received),
      server("server: bytes sent", &ServerCounters::bytes_sent),
      {"seconds until all were served once", decimal(s.all_served, 2), decimal(f.all_served, 2)},
      {"seconds until all went home", decimal(s.whole_time, 2), decimal(f.whole_time, 2)},
      {"longest wait, seconds", decimal(s.longest_wait, 2), decimal(f.longest_wait, 2)},
      {"different contenders in the first " + n + " turns", std::to_string(s.first_come), std::to_string(f.first_come)},
      {"overtaken by a later one (pairs)", std::to_string(s.overtakings), std::to_string(f.overtakings)},
  };
}

std::string as_text(const std::vector<Row>& table) {
  std::ostringstream text;
  text << std::left << std::setw(44) << "" << std::right << std::setw(14) << "simple lock" << std::setw(14)
       << "fair mutex" << '\n';
  for (const Row& row : table)
    text << std::left << std::setw(44) << row.what << std::right << std::setw(14) << row.simple << std::setw(14)
         << row.fair << '\n';
  return text.str();
}

std::string as_html(const std::vector<Row>& table) {
  std::ostringstream html;
  html << "<table>\n<tr><th></th><th>simple lock</th><th>fair mutex</th></tr>\n";
  for (const Row& row : table)
    html << "<tr><td>" << row.what << "</td><td>" << row.simple << "</td><td>" << row.fair << "</td></tr>\n";
  html << "</table>\n";
  return html.str();
}

std::string conclusion(const RaceLog& simple, const RaceLog& fair) {
  const Result s = evaluate(simple);
  const Result f = evaluate(fair);
  return "With " + std::to_string(simple.contenders) + " contenders, a release of the simple lock wakes " +
         decimal(s.events_per_release, 1) +
         " of them and all but one have raced for nothing; a release of the fair mutex wakes " +
         decimal(f.events_per_release, 1) + ": the one whose turn it is.";
}

}  // namespace herd_effect
