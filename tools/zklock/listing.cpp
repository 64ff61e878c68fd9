// SPDX-License-Identifier: Apache-2.0
#include "tools/zklock/listing.h"

#include <algorithm>
#include <map>

#include "tools/zklock/duration.h"
#include "tools/zklock/json.h"
#include "tools/zklock/table.h"
#include "tools/zklock/text.h"

namespace zklock {
namespace {

using zkrecipes::Contender;

std::string name_of(const Contender& contender) {
  const std::string name = contender.identity.empty() ? session_text(contender.session) : contender.identity;
  return contender.note.empty() ? name : name + " (" + contender.note + ")";
}

const Contender* find(const Contenders& line, const std::string& node, const zkrecipes::FencingToken& token) {
  const auto found = std::find_if(line.begin(), line.end(),
                                  [&](const Contender& each) { return each.node == node && each.token == token; });
  return found == line.end() ? nullptr : &*found;
}

std::string event(const char* what, const Contender& contender) {
  return std::string(what) + "  " + to_string(contender.mode) + "  token " + contender.token.to_string() + "  " +
         name_of(contender) + "  " + contender.node;
}

std::string not_understood(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " node below is" : " nodes below are") + " not understood";
}

using Columns = std::vector<std::string>;

/// The table with these columns, and with cells for people that are at most so long.
Table table_of(const Contenders& line, const std::string& path, std::chrono::system_clock::time_point now,
               const Columns& shown, std::size_t longest) {
  Table table(shown);
  for (const Contender& each : line) {
    const auto age = std::chrono::duration_cast<std::chrono::milliseconds>(now - each.since);
    // Clocks differ a little; nobody has waited for less than nothing.
    const auto seconds = std::max(std::chrono::floor<std::chrono::seconds>(age), std::chrono::seconds(0));
    const bool below = each.node.size() > path.size() && each.node.compare(0, path.size(), path) == 0;
    const auto for_people = [&](const std::string& text) {
      return text.empty() ? "-" : shortened(printable(text), longest);
    };
    const std::map<std::string, std::string> cells{
        {"STATE", each.holds ? "holds" : "waits"},
        {"MODE", to_string(each.mode)},
        {"SINCE", local_time(each.since)},
        {"FOR", seconds.count() == 0 ? "0 s" : to_text(seconds)},
        {"TOKEN", each.token.to_string()},
        {"SESSION", each.session == 0 ? "none" : session_text(each.session)},
        {"IDENTITY", for_people(each.identity)},
        {"NOTE", for_people(each.asked_to_release ? "(asked to give it up)" : each.note)},
        {"NODE", !below ? each.node : each.node.substr(path == "/" ? 1 : path.size() + 1)}};
    std::vector<std::string> row;
    for (const std::string& column : shown) row.push_back(cells.at(column));
    table.add(row);
  }
  return table;
}

}  // namespace

std::string summary(const zkrecipes::LockListing& lock) {
  const Contenders& line = lock.contenders;
  const auto holders = std::count_if(line.begin(), line.end(), [](const Contender& each) { return each.holds; });
  const auto waiters = static_cast<std::ptrdiff_t>(line.size()) - holders;
  if (!lock.exists) return "free, or a wrong path or chroot: there is no such node";
  const std::string more = lock.not_understood == 0 ? "" : ", " + not_understood(lock.not_understood);
  if (line.empty()) return "free" + more;
  return std::to_string(holders) + (holders == 1 ? " holds, " : " hold, ") + std::to_string(waiters) +
         (waiters == 1 ? " waits" : " wait") + more;
}

std::string listing(const Contenders& line, const std::string& path, std::chrono::system_clock::time_point now,
                    std::size_t width) {
  const auto table = [&](const Columns& shown, std::size_t longest) {
    return table_of(line, path, now, shown, longest);
  };
  const Table whole = table({"STATE", "MODE", "SINCE", "FOR", "TOKEN", "SESSION", "IDENTITY", "NOTE", "NODE"}, 40);
  if (width == 0 || whole.width() <= width) return whole.text();
  const Table without_since = table({"STATE", "MODE", "FOR", "TOKEN", "SESSION", "IDENTITY", "NOTE", "NODE"}, 40);
  if (without_since.width() <= width) return without_since.text();
  // The name of the node is the longest and the first to be cut, so it comes last.
  const Columns needed{"STATE", "MODE", "FOR", "IDENTITY", "NOTE", "TOKEN", "NODE"};
  const Table narrow = table(needed, 40);
  return narrow.width() <= width ? narrow.text() : table(needed, std::max<std::size_t>(width / 5, 8)).text(width);
}

std::vector<std::string> remarks(const zkrecipes::LockListing& lock) {
  std::vector<std::string> result;
  if (lock.not_understood != 0)
    result.push_back(
        not_understood(lock.not_understood) +
        ": locks or other nodes below (see zklock tree), or clients of a recipe that zklock does not know");
  for (const Contender& each : lock.contenders)
    if (each.session == 0)
      result.push_back(each.node +
                       " is owned by no session, so it stays until it is deleted by hand (zkCli.sh delete)");
  return result;
}

std::string listing_json(const zkrecipes::LockListing& lock, const std::string& path) {
  Json json;
  json.begin_object();
  json.member("path", path);
  json.member("exists", lock.exists);
  json.key("contenders");
  json.begin_array();
  for (const Contender& each : lock.contenders) {
    json.begin_object();
    json.member("holds", each.holds);
    json.member("mode", to_string(each.mode));
    json.member("since", utc_time(each.since));
    json.member("token", each.token.to_string());
    json.member("session", session_text(each.session));
    json.member("identity", each.identity);
    json.member("note", each.note);
    json.member("node", each.node);
    json.member("asked_to_release", each.asked_to_release);
    json.end_object();
  }
  json.end_array();
  json.member("not_understood", static_cast<std::int64_t>(lock.not_understood));
  json.end_object();
  return json.text();
}

std::vector<std::string> changes(const Contenders& before, const Contenders& after) {
  std::vector<std::string> lines;
  for (const Contender& each : before)
    if (find(after, each.node, each.token) == nullptr) lines.push_back(event("left   ", each));
  for (const Contender& each : after) {
    const Contender* earlier = find(before, each.node, each.token);
    if (each.holds && (earlier == nullptr || !earlier->holds)) lines.push_back(event("holds  ", each));
    if (!each.holds && earlier == nullptr) lines.push_back(event("waits  ", each));
    if (each.asked_to_release && earlier != nullptr && !earlier->asked_to_release)
      lines.push_back(event("asked  ", *earlier));
  }
  return lines;
}

}  // namespace zklock
