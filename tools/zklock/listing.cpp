// SPDX-License-Identifier: Apache-2.0
#include "tools/zklock/listing.h"

#include <algorithm>

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

}  // namespace

std::string summary(const Contenders& line) {
  const auto holders = std::count_if(line.begin(), line.end(), [](const Contender& each) { return each.holds; });
  const auto waiters = static_cast<std::ptrdiff_t>(line.size()) - holders;
  if (line.empty()) return "free";
  return std::to_string(holders) + (holders == 1 ? " holds, " : " hold, ") + std::to_string(waiters) +
         (waiters == 1 ? " waits" : " wait");
}

std::string listing(const Contenders& line, const std::string& path, std::chrono::system_clock::time_point now,
                    std::size_t width) {
  Table table({"STATE", "MODE", "SINCE", "FOR", "TOKEN", "SESSION", "IDENTITY", "NOTE", "NODE"});
  for (const Contender& each : line) {
    const auto age = std::chrono::duration_cast<std::chrono::milliseconds>(now - each.since);
    // Clocks differ a little; nobody has waited for less than nothing.
    const auto shown = std::max(std::chrono::floor<std::chrono::seconds>(age), std::chrono::seconds(0));
    const bool below = each.node.size() > path.size() && each.node.compare(0, path.size(), path) == 0;
    const std::string node = !below ? each.node : each.node.substr(path == "/" ? 1 : path.size() + 1);
    table.add({each.holds ? "holds" : "waits", to_string(each.mode), local_time(each.since),
               shown.count() == 0 ? "0 s" : to_text(shown), each.token.to_string(), session_text(each.session),
               each.identity.empty() ? "-" : each.identity, each.note.empty() ? "-" : each.note, node});
  }
  return table.text(width);
}

std::string listing_json(const Contenders& line, const std::string& path) {
  Json json;
  json.begin_object();
  json.member("path", path);
  json.key("contenders");
  json.begin_array();
  for (const Contender& each : line) {
    json.begin_object();
    json.member("holds", each.holds);
    json.member("mode", to_string(each.mode));
    json.member("since", utc_time(each.since));
    json.member("token", each.token.to_string());
    json.member("session", session_text(each.session));
    json.member("identity", each.identity);
    json.member("note", each.note);
    json.member("node", each.node);
    json.end_object();
  }
  json.end_array();
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
  }
  return lines;
}

}  // namespace zklock
