// SPDX-License-Identifier: Apache-2.0
#include "tools/zklock/run_options.h"

#include <algorithm>
#include <climits>

#include "tools/zklock/command_line.h"
#include "tools/zklock/exit_codes.h"

namespace zklock {

namespace po = boost::program_options;

namespace {

CommandText text() {
  return {"zklock run PATH [options] -- COMMAND [ARGUMENT...]",
          "Runs a command while it holds the lock at PATH, and ends with the command's status.\n"
          "The command is ended when the lock is lost, and when zklock dies. TIME is a number of seconds,\n"
          "or a number with a unit: 500ms, 10s, 5m, 2h, 1d. See zklock(1) for the exit status.\n",
          "  zklock run /locks/backup -- backup.sh                 # wait for the lock, then run\n"
          "  zklock run /locks/report -n -E 0 -- report.sh         # somebody else runs it: fine\n"
          "  zklock run /cron/cleanup -q -n -E 0 --hold-at-least 10m -- cleanup.sh   # once, from cron on many hosts\n"
          "  zklock run /locks/deploy -w 5m --limit 1h -- deploy.sh\n"
          "  zklock run /locks/data -s -- reader.sh                # beside other readers\n"
          "  zklock run /pay/lock --private --auth-file pay.auth -- pay.sh\n"
          "  zklock run /locks/printers -N 3 -- print.sh           # at most three at a time\n"};
}

void add_options(CommandLine& line) {
  const auto time = [] { return po::value<std::string>()->value_name("TIME"); };
  line.add_argument("PATH");
  line.add()("shared,s", "a shared (read) lock")("permits,N", po::value<std::string>()->value_name("COUNT"),
                                                 "a semaphore: at most COUNT commands at a time")(
      "simple", "the simplest lock: one node, no queue, not fair")(
      "private", "the lock and missing folders are for clients with the same credentials only")(
      "nonblock,n", "give up at once if the lock is in use")("wait,w", time(),
                                                             "give up when the lock is not free in time")(
      "conflict-exit-code,E", po::value<std::string>()->value_name("CODE")->default_value("1"),
      "exit status after giving up")("limit", time(), "end the command after this time, with status 124")(
      "hold-at-least", time(), "hold the lock for at least this time, even if the command ends sooner")(
      "on-lost", po::value<std::string>()->value_name("HOW")->default_value("term"),
      "if the lock is lost: term, kill or ignore the command")(
      "kill-after", time(),
      "how long after TERM to KILL; default: 10s, and a fortieth of the session timeout when the lock is lost")(
      "identity", po::value<std::string>()->value_name("TEXT"), "for people who look at the lock; default: host:pid")(
      "note", po::value<std::string>()->value_name("TEXT"), "likewise; default: the name of the command");
}

RunOptions::Kind kind_of(const CommandLine& line) {
  if (line.has("shared") + line.has("permits") + line.has("simple") > 1)
    throw Failure(kUsage, "-s, -N and --simple are different locks: choose one");
  if (line.has("shared")) return RunOptions::Kind::shared;
  if (line.has("permits")) return RunOptions::Kind::semaphore;
  return line.has("simple") ? RunOptions::Kind::simple : RunOptions::Kind::exclusive;
}

OnLost on_lost_of(const std::string& how) {
  if (how == "term") return OnLost::term;
  if (how == "kill") return OnLost::kill;
  if (how == "ignore") return OnLost::ignore;
  throw Failure(kUsage, "--on-lost must be term, kill or ignore, not '" + how + "'");
}

/// The library has the same limits, and other words for these options.
std::string text_for_people(const CommandLine& line, const std::string& option) {
  constexpr std::size_t kMaxBytes = 64 * 1024;
  std::string text = line.text(option);
  if (text.size() > kMaxBytes)
    throw Failure(kUsage, "--" + option + " has " + std::to_string(text.size()) + " bytes; at most " +
                              std::to_string(kMaxBytes) + " are allowed");
  return text;
}

/// The folders, too: their ACLs decide who may wait, and who may remove the nodes of others.
void make_private(zkrecipes::ConnectionOptions& options) {
  if (options.credentials.empty()) throw Failure(kUsage, "--private needs credentials: --auth-file FILE or ZK_AUTH");
  options.acl = zkrecipes::Acl::creator_all();
  options.parent_acl = options.acl;
}

std::string name_of(const std::string& command) {
  return command.substr(command.find_last_of('/') + 1);
}

}  // namespace

std::optional<RunOptions> parse_run_options(const std::vector<std::string>& words) {
  const auto dashes = std::find(words.begin(), words.end(), "--");
  CommandText about = text();
  if (dashes == words.end()) about.advice = "the command is written behind two dashes: " + about.usage;
  CommandLine line(about);
  add_options(line);
  if (!line.parse({words.begin(), dashes})) return std::nullopt;
  RunOptions options;
  if (dashes != words.end()) options.command.assign(dashes + 1, words.end());
  if (options.command.empty())
    throw Failure(kUsage, "no command is given: write it behind two dashes, zklock run PATH [options] -- COMMAND");
  options.path = line.text("PATH");
  options.kind = kind_of(line);
  options.permits = line.number("permits", 1, INT_MAX / 2).value_or(1);
  options.wait = line.duration("wait");
  if (line.has("nonblock")) {
    if (options.wait) throw Failure(kUsage, "-n does not wait and -w does: choose one");
    options.wait = std::chrono::milliseconds(0);
  }
  options.conflict_code = *line.number("conflict-exit-code", 0, 255);
  options.limit = line.duration("limit");
  if (options.limit && options.limit->count() == 0)
    throw Failure(kUsage, "--limit 0 would end the command at once; leave it out for no limit");
  options.hold_at_least = line.duration("hold-at-least").value_or(std::chrono::milliseconds(0));
  options.on_lost = on_lost_of(line.text("on-lost"));
  options.kill_after = line.duration("kill-after");
  options.note = line.has("note") ? text_for_people(line, "note") : name_of(options.command.front());
  options.connection = line.connection();
  if (line.has("private")) make_private(options.connection);
  options.connection.identity = text_for_people(line, "identity");
  if (options.connection.identity.find('\n') != std::string::npos)
    throw Failure(kUsage, "--identity must be one line; --note takes several");
  return options;
}

}  // namespace zklock
