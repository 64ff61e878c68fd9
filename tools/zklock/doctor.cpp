// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdio>
#include <iostream>
#include <sstream>

#include "tools/zklock/command_line.h"
#include "tools/zklock/commands.h"
#include "tools/zklock/duration.h"
#include "tools/zklock/examination.h"
#include "tools/zklock/exit_codes.h"
#include "tools/zklock/json.h"
#include "tools/zklock/table.h"
#include "tools/zklock/text.h"

namespace zklock {

namespace po = boost::program_options;

namespace {

CommandText text() {
  return {"zklock doctor [options]",
          "Asks each server how it is, connects, measures, tries what locks need, and says what is wrong.\n"
          "Makes nodes that begin with zklock-doctor- and removes them again.\n",
          "  zklock doctor --servers zk1:2181,zk2:2181,zk3:2181\n"
          "  zklock doctor --at /locks --json | jq .warnings\n"};
}

std::string milliseconds_text(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.1f ms", value);
  return buffer;
}

std::string latency_text(const std::optional<Latency>& latency) {
  if (!latency) return "not known";
  return milliseconds_text(latency->min) + " / " + milliseconds_text(latency->median) + " / " +
         milliseconds_text(latency->max);
}

std::string timeout_text(const std::optional<std::chrono::milliseconds>& timeout) {
  return timeout ? to_text(*timeout) : "not known";
}

std::string clock_text(const Findings& found) {
  if (!found.clock_ahead_ms) return "not known";
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "servers %s by %.0f ms (+- %.0f ms)",
                *found.clock_ahead_ms < 0 ? "behind" : "ahead", std::abs(*found.clock_ahead_ms), found.clock_error_ms);
  return buffer;
}

std::string page(const Findings& found) {
  std::ostringstream out;
  Table servers({"SERVER", "ANSWERS", "MODE", "VERSION", "CONNECTIONS", "NODES"});
  for (const ServerStatus& each : found.servers)
    servers.add({each.address, each.answers ? "yes" : "no", each.mode, each.version, each.connections, each.nodes});
  out << servers.text() << "\n";
  if (found.connected) {
    out << "connected in       " << milliseconds_text(found.connect_ms) << ", session " << found.session << "\n"
        << "session timeout    " << to_text(found.negotiated) << " (asked for " << to_text(found.asked)
        << "); the servers permit " << timeout_text(found.smallest_timeout) << " to "
        << timeout_text(found.largest_timeout) << "\n"
        << "read               " << latency_text(found.reads) << " (min / median / max)\n"
        << "lock and unlock    " << latency_text(found.locks) << "\n"
        << "clock              " << clock_text(found) << "\n"
        << "containers         "
        << (!found.containers   ? "not known"
            : *found.containers ? "yes"
                                : "no")
        << "\n";
  } else {
    out << "not connected\n";
  }
  for (const std::string& each : found.problems) out << "PROBLEM  " << printable(each) << "\n";
  for (const std::string& each : found.warnings) out << "warning  " << printable(each) << "\n";
  if (found.problems.empty() && found.warnings.empty()) out << "all is well\n";
  return out.str();
}

void add_latency(Json& json, const char* name, const std::optional<Latency>& latency) {
  json.key(name);
  if (!latency) return json.null();
  json.begin_object();
  json.member("min", latency->min);
  json.member("median", latency->median);
  json.member("max", latency->max);
  json.end_object();
}

void add_timeout(Json& json, const char* name, const std::optional<std::chrono::milliseconds>& timeout) {
  json.key(name);
  if (timeout)
    json.value(std::int64_t{timeout->count()});
  else
    json.null();
}

void add_texts(Json& json, const char* name, const std::vector<std::string>& texts) {
  json.key(name);
  json.begin_array();
  for (const std::string& each : texts) json.value(each);
  json.end_array();
}

std::string json_page(const Findings& found) {
  Json json;
  json.begin_object();
  json.key("servers");
  json.begin_array();
  for (const ServerStatus& each : found.servers) {
    json.begin_object();
    json.member("address", each.address);
    json.member("answers", each.answers);
    json.member("mode", each.mode);
    json.member("version", each.version);
    json.member("trouble", each.trouble);
    json.end_object();
  }
  json.end_array();
  json.member("connected", found.connected);
  json.member("session", found.session);
  json.member("connect_ms", found.connect_ms);
  json.member("timeout_ms", std::int64_t{found.negotiated.count()});
  add_timeout(json, "smallest_timeout_ms", found.smallest_timeout);
  add_timeout(json, "largest_timeout_ms", found.largest_timeout);
  add_latency(json, "read_ms", found.reads);
  add_latency(json, "lock_and_unlock_ms", found.locks);
  json.key("clock_ahead_ms");
  if (found.clock_ahead_ms)
    json.value(*found.clock_ahead_ms);
  else
    json.null();
  json.key("containers");
  if (found.containers)
    json.value(*found.containers);
  else
    json.null();
  add_texts(json, "problems", found.problems);
  add_texts(json, "warnings", found.warnings);
  json.end_object();
  return json.text();
}

}  // namespace

int doctor(const std::vector<std::string>& words) {
  CommandLine line(text());
  line.add()("at", po::value<std::string>()->value_name("PATH")->default_value("/"), "make the nodes below this path")(
      "json", "one JSON object");
  if (!line.parse(words)) return kSuccess;
  zkrecipes::ConnectionOptions options = line.connection();
  options.create_chroot = false;  // a chroot that is missing is to be found, not mended
  const Findings found = examine(options, line.text("at"));
  std::cout << (line.has("json") ? json_page(found) + "\n" : page(found));
  return found.status;
}

}  // namespace zklock
