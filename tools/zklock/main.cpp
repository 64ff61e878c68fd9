// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <exception>
#include <iostream>
#include <map>
#include <stdexcept>
#include <zkrecipes/error.h>
#include <zkrecipes/version.h>

#include "tools/zklock/commands.h"
#include "tools/zklock/credentials.h"
#include "tools/zklock/descriptor.h"
#include "tools/zklock/exit_codes.h"
#include "tools/zklock/say.h"

namespace zklock {
namespace {

using Words = std::vector<std::string>;

constexpr const char* kHelp = R"(usage: zklock COMMAND [options] ...

Locks on ZooKeeper for the shell.

  run PATH [options] -- COMMAND   run a command while holding a lock
  ls PATH                         who holds a lock and who waits for it
  tree PREFIX                     the locks below a path
  revoke NODE                     ask a holder to give the lock up
  break NODE --if-token TOKEN     take the lock away from a holder, or the place from a waiter
  check PATH --token TOKEN        does this token still hold the lock?
  doctor                          look at the servers, and at what they permit

  zklock COMMAND --help           options and examples of a command
  zklock --version

Servers: --servers zk1:2181,zk2:2181,zk3:2181/chroot or the environment variable ZK_SERVERS.
Credentials: --auth-file FILE or ZK_AUTH, for example digest:user:password; never on the command line.

Examples:
  zklock run /locks/backup -- backup.sh
  zklock run /cron/cleanup -q -n -E 0 --hold-at-least 10m -- cleanup.sh
  zklock ls /locks/backup --watch

The manual is zklock(1).
)";

/// What may be repeated of a word that is no command. An option of another tool may have a secret as its value.
std::string repeatable(const std::string& word) {
  if (word.rfind("--", 0) == 0) return word.substr(0, word.find('='));
  return word.rfind('-', 0) == 0 ? word.substr(0, 2) : word;
}

int dispatch(const Words& words) {
  static const std::map<std::string, int (*)(const Words&)> commands{
      {"run", &run},          {"ls", &ls},       {"tree", &tree},    {"revoke", &revoke},
      {"break", &break_node}, {"check", &check}, {"doctor", &doctor}};
  if (words.empty()) throw Failure(kUsage, "which command? See zklock --help");
  // Before anything can repeat them. What stands behind two dashes is the business of the command there.
  refuse_secrets({words.begin(), std::find(words.begin(), words.end(), "--")});
  const std::string& name = words.front();
  if (name == "--help" || name == "-h" || name == "help") {
    std::cout << kHelp;
    return kSuccess;
  }
  if (name == "--version" || name == "-V") {
    std::cout << "zklock " << zkrecipes::version() << "\n";
    return kSuccess;
  }
  const auto command = commands.find(name);
  if (command == commands.end())
    throw Failure(kUsage, "there is no command '" + repeatable(name) + "'; the command comes first, see zklock --help");
  return command->second({words.begin() + 1, words.end()});
}

int fail(int code, const std::string& message) {
  complain(message);
  return code;
}

int guarded(const Words& words) {
  try {
    const int status = dispatch(words);
    // A full disk must not look like an empty answer.
    if (!std::cout.flush()) throw Failure(kFailure, "standard output cannot be written to");
    return status;
  } catch (const Failure& failure) {
    return fail(failure.code(), failure.what());
  } catch (const zkrecipes::Error& error) {
    return fail(code_for(error), error.what());
  } catch (const std::invalid_argument& error) {
    // The library's word for a path that is none; options are checked before it sees them.
    return fail(kUnusablePath, error.what());
  } catch (const std::exception& error) {
    return fail(kFailure, error.what());
  }
}

}  // namespace
}  // namespace zklock

int main(int argc, char** argv) {
  zklock::occupy_standard_descriptors();
  return zklock::guarded({argv + 1, argv + argc});
}
