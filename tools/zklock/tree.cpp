// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <zkrecipes/contenders.h>
#include <zkrecipes/find_locks.h>

#include "tools/zklock/command_line.h"
#include "tools/zklock/commands.h"
#include "tools/zklock/exit_codes.h"
#include "tools/zklock/json.h"
#include "tools/zklock/say.h"
#include "tools/zklock/session.h"
#include "tools/zklock/table.h"

namespace zklock {

namespace po = boost::program_options;

namespace {

CommandText text() {
  return {"zklock tree PREFIX [options]",
          "Shows the locks at and below PREFIX that somebody holds or waits for, and semaphores.\n",
          "  zklock tree /locks\n"
          "  zklock tree / --json | jq -r '.locks[] | select(.waiters > 10) | .path'\n"};
}

std::string json_of(const zkrecipes::FoundLocks& found, const std::string& prefix) {
  Json json;
  json.begin_object();
  json.member("prefix", prefix);
  json.key("locks");
  json.begin_array();
  for (const zkrecipes::FoundLock& each : found.locks) {
    json.begin_object();
    json.member("path", each.path);
    json.member("kind", to_string(each.kind));
    json.member("holders", static_cast<std::int64_t>(each.holders));
    json.member("waiters", static_cast<std::int64_t>(each.waiters));
    json.end_object();
  }
  json.end_array();
  json.key("unreadable");
  json.begin_array();
  for (const std::string& each : found.unreadable) json.value(each);
  json.end_array();
  json.member("complete", found.complete);
  json.end_object();
  return json.text();
}

const char* nothing_found(Session& session, const std::string& prefix, const zkrecipes::FoundLocks& found) {
  if (!found.complete || !found.unreadable.empty()) return "no lock was found, but not all nodes were looked at";
  try {
    if (zkrecipes::list_lock(session.connection(), prefix, session.patience()).exists) return "no lock is in use";
  } catch (const zkrecipes::Error& error) {
    if (error.code() != zkrecipes::ErrorCode::unusable_path) throw;
    return "no lock is in use";  // the node is there, and is no path of a lock
  }
  return "no lock is in use, or a wrong path or chroot: there is no such node";
}

}  // namespace

int tree(const std::vector<std::string>& words) {
  CommandLine line(text());
  line.add_argument("PREFIX");
  line.add()("json", "one JSON object")("max-nodes",
                                        po::value<std::string>()->value_name("COUNT")->default_value("10000"),
                                        "look at this many nodes at most; one request each");
  if (!line.parse(words)) return kSuccess;
  const std::string prefix = line.text("PREFIX");
  zkrecipes::FindLimits limits;
  limits.nodes = static_cast<std::size_t>(*line.number("max-nodes", 1, 100'000'000));
  limits.answer = *line.duration("timeout");
  Session session(line.connection());
  session.connect();
  const zkrecipes::FoundLocks found = zkrecipes::find_locks(session.connection(), prefix, limits);
  if (line.has("json")) {
    std::cout << json_of(found, prefix) << "\n";
  } else if (found.locks.empty()) {
    std::cout << prefix << ": " << nothing_found(session, prefix, found) << "\n";
  } else {
    Table table({"KIND", "HOLDERS", "WAITERS", "PATH"});
    for (const zkrecipes::FoundLock& each : found.locks)
      table.add({to_string(each.kind), std::to_string(each.holders), std::to_string(each.waiters), each.path});
    std::cout << table.text();
  }
  for (const std::string& each : found.unreadable) complain(each + " may not be listed; what is below is not shown");
  if (!found.complete) complain("there are more nodes than --max-nodes permits to look at; the rest is not shown");
  return found.unreadable.empty() || !found.locks.empty() ? kSuccess : kNotPermitted;
}

}  // namespace zklock
