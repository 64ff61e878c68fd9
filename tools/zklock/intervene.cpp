// SPDX-License-Identifier: Apache-2.0
// What an operator does about one contender: ask it to give the lock up, or take the lock away; and the question
// whether a token still holds.
#include <algorithm>
#include <chrono>
#include <zkrecipes/break_lock.h>
#include <zkrecipes/contenders.h>
#include <zkrecipes/revocation.h>

#include "tools/zklock/command_line.h"
#include "tools/zklock/commands.h"
#include "tools/zklock/exit_codes.h"
#include "tools/zklock/say.h"
#include "tools/zklock/session.h"
#include "tools/zklock/text.h"

namespace zklock {

namespace po = boost::program_options;

namespace {

CommandText revoke_text() {
  return {"zklock revoke NODE [options]",
          "Asks the client that owns the lock node NODE to give the lock up, as Curator's Revoker does.\n"
          "The client may ignore it; zklock run does. zklock ls shows the nodes.\n",
          "  zklock revoke /locks/backup/_c_0f8fad5b-d9cb-469f-a165-70867728950e-lock-0000000007\n"};
}

CommandText break_text() {
  return {
      "zklock break NODE --if-token TOKEN [options]",
      "Removes the lock node NODE, if its token is still TOKEN: its client loses the lock, or its place\n"
      "in line. For a client that hangs. A client that still works and does not check its hold works on\n"
      "without the lock. zklock ls shows nodes and tokens.\n",
      "  zklock break /locks/backup/_c_0f8fad5b-d9cb-469f-a165-70867728950e-lock-0000000007 --if-token 4294967321\n"};
}

CommandText check_text() {
  return {"zklock check PATH --token TOKEN [options]",
          "Succeeds if the lock at PATH is held with this fencing token, and ends with status 76 if not.\n"
          "A command of zklock run has no ZK_AUTH; give its zklock --auth-file if the servers need credentials.\n",
          "  zklock check /locks/backup --token \"$ZKLOCK_TOKEN\" || exit 1     # in a command of zklock run\n"};
}

zkrecipes::FencingToken token_of(const CommandLine& line, const std::string& option) {
  if (!line.has(option)) throw Failure(kUsage, "no --" + option + " is given; zklock ls shows the tokens");
  const auto token = zkrecipes::FencingToken::parse(line.text(option));
  if (!token)
    throw Failure(kUsage, "--" + option + " must be a number as zklock ls shows it, not '" + line.text(option) + "'");
  return *token;
}

// For a moment after its grant, a client of a semaphore still stands in line and is shown as a waiter.
constexpr int kLooks = 4;
constexpr std::chrono::milliseconds kBetweenLooks{100};

bool has_line_of_semaphore(const zkrecipes::LockListing& lock) {
  return std::any_of(lock.contenders.begin(), lock.contenders.end(), [](const zkrecipes::Contender& each) {
    return each.mode == zkrecipes::LockMode::permit && !each.holds;
  });
}

/// "its holders have 2016, 2019"; empty if there is none. Of very many, the first.
std::string holders_have(const zkrecipes::LockListing& lock) {
  constexpr int kMost = 10;
  std::string tokens;
  int holders = 0;
  for (const zkrecipes::Contender& each : lock.contenders) {
    if (!each.holds || ++holders > kMost) continue;
    tokens += (holders == 1 ? " " : ", ") + each.token.to_string();
  }
  if (holders == 0) return "";
  return (holders == 1 ? "its holder has" : "its holders have") + tokens + (holders > kMost ? " and others" : "");
}

void add_token(CommandLine& line, const char* option, const char* help) {
  line.add()(option, po::value<std::string>()->value_name("TOKEN"), help);
}

/// "db1:4711 (nightly backup), session 0x1000a2b3c4d0001". For the operator: afterwards the node does not tell any
/// more.
std::string name_of(const zkrecipes::Contender& owner) {
  std::string name = owner.identity.empty() ? "" : owner.identity;
  if (owner.asked_to_release) name = "a client that had been asked before";
  if (!owner.note.empty()) name += " (" + owner.note + ")";
  return (name.empty() ? "the client" : name) + ", session " + session_text(owner.session);
}

}  // namespace

int revoke(const std::vector<std::string>& words) {
  CommandLine line(revoke_text());
  line.add_argument("NODE");
  if (!line.parse(words)) return kSuccess;
  Session session(line.connection());
  session.connect();
  const std::string node = line.text("NODE");
  const zkrecipes::Contender owner = zkrecipes::owner_of(session.connection(), node, session.patience());
  zkrecipes::request_revoke(session.connection(), node, session.patience());
  say(name_of(owner) + " was asked to give the lock up; whether it does, zklock ls shows");
  return kSuccess;
}

int break_node(const std::vector<std::string>& words) {
  CommandLine line(break_text());
  line.add_argument("NODE");
  add_token(line, "if-token", "the token that the node must have");
  if (!line.parse(words)) return kSuccess;
  const zkrecipes::FencingToken token = token_of(line, "if-token");
  Session session(line.connection());
  session.connect();
  const std::string node = line.text("NODE");
  const zkrecipes::Contender owner = zkrecipes::owner_of(session.connection(), node, session.patience());
  zkrecipes::break_lock(session.connection(), node, token, session.patience());
  say("the node is removed; " + name_of(owner) + " has lost the lock or its place in line");
  return kSuccess;
}

int check(const std::vector<std::string>& words) {
  CommandLine line(check_text());
  line.add_argument("PATH");
  add_token(line, "token", "the token to look for");
  if (!line.parse(words)) return kSuccess;
  const zkrecipes::FencingToken token = token_of(line, "token");
  Session session(line.connection());
  session.connect();
  const std::string path = line.text("PATH");
  const auto not_held = [&](const std::string& why) {
    return Failure(kNoSuchToken, path + " is not held with the token " + token.to_string() + "; " + why);
  };
  // Two requests, however many wait. Only readers and permits have other holders beside the first.
  const auto first = zkrecipes::holder(session.connection(), path, session.patience());
  if (first && first->token == token) return kSuccess;
  if (first && (first->mode == zkrecipes::LockMode::exclusive || first->mode == zkrecipes::LockMode::write))
    throw not_held("its holder has " + first->token.to_string());
  zkrecipes::LockListing lock;
  for (int look = 0; look < kLooks; ++look) {
    if (look != 0) wait_readable({}, Clock::now() + kBetweenLooks);
    lock = zkrecipes::list_lock(session.connection(), path, session.patience());
    const auto holds = [&](const zkrecipes::Contender& each) { return each.holds && each.token == token; };
    if (std::any_of(lock.contenders.begin(), lock.contenders.end(), holds)) return kSuccess;
    if (!has_line_of_semaphore(lock)) break;
  }
  if (const std::string holders = holders_have(lock); !holders.empty()) throw not_held(holders);
  throw not_held(lock.exists ? "it is free" : "there is no such node, so it is free, or the path or chroot is wrong");
}

}  // namespace zklock
