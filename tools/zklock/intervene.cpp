// SPDX-License-Identifier: Apache-2.0
// What an operator does about one contender: ask it to give the lock up, or take the lock away; and the question
// whether a token still holds.
#include <algorithm>
#include <iostream>
#include <zkrecipes/break_lock.h>
#include <zkrecipes/contenders.h>
#include <zkrecipes/revocation.h>

#include "tools/zklock/command_line.h"
#include "tools/zklock/commands.h"
#include "tools/zklock/exit_codes.h"
#include "tools/zklock/say.h"
#include "tools/zklock/session.h"

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
          "Succeeds if the lock at PATH is held with this fencing token, and ends with status 76 if not.\n",
          "  zklock check /locks/backup --token \"$ZKLOCK_TOKEN\" || exit 1     # in a command of zklock run\n"};
}

zkrecipes::FencingToken token_of(const CommandLine& line, const std::string& option) {
  if (!line.has(option)) throw Failure(kUsage, "no --" + option + " is given; zklock ls shows the tokens");
  const auto token = zkrecipes::FencingToken::parse(line.text(option));
  if (!token)
    throw Failure(kUsage, "--" + option + " must be a number as zklock ls shows it, not '" + line.text(option) + "'");
  return *token;
}

void add_token(CommandLine& line, const char* option, const char* help) {
  line.add()(option, po::value<std::string>()->value_name("TOKEN"), help);
}

}  // namespace

int revoke(const std::vector<std::string>& words) {
  CommandLine line(revoke_text());
  line.add_argument("NODE");
  if (!line.parse(words)) return kSuccess;
  Session session(line.connection());
  session.connect();
  zkrecipes::request_revoke(session.connection(), line.text("NODE"), session.patience());
  say("the client was asked to give the lock up; whether it does, zklock ls shows");
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
  zkrecipes::break_lock(session.connection(), line.text("NODE"), token, session.patience());
  say("the node is removed; its client has lost the lock or its place in line");
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
  const auto contenders = zkrecipes::contenders(session.connection(), path, session.patience());
  const auto holds = [&](const zkrecipes::Contender& each) { return each.holds && each.token == token; };
  if (std::any_of(contenders.begin(), contenders.end(), holds)) return kSuccess;
  const bool held = !contenders.empty() && contenders.front().holds;
  throw Failure(kNoSuchToken, path + " is not held with the token " + token.to_string() +
                                  (held ? "; its holder has " + contenders.front().token.to_string() : "; it is free"));
}

}  // namespace zklock
