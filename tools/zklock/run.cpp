// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <memory>
#include <optional>

#include "tools/zklock/commands.h"
#include "tools/zklock/duration.h"
#include "tools/zklock/executable.h"
#include "tools/zklock/exit_codes.h"
#include "tools/zklock/guardian.h"
#include "tools/zklock/lock_request.h"
#include "tools/zklock/process_tree.h"
#include "tools/zklock/run_options.h"
#include "tools/zklock/say.h"
#include "tools/zklock/session.h"
#include "tools/zklock/signals.h"
#include "tools/zklock/supervisor.h"

namespace zklock {
namespace {

GuardianSettings settings_for(const RunOptions& options, const Signals& signals, bool ignores_pipe) {
  GuardianSettings settings;
  settings.command = options.command;
  settings.original_mask = signals.original_mask();
  settings.ignores_pipe = ignores_pipe;
  settings.on_lost = options.on_lost;
  settings.kill_after = options.kill_after;
  return settings;
}

int conflict(const RunOptions& options) {
  if (options.wait->count() == 0)
    say(options.path + " is in use");
  else
    say(options.path + " was not free within " + to_text(*options.wait));
  return options.conflict_code;
}

/// A removal that is not confirmed by then goes on until the session ends, which the end of the connection sees to.
void release(zkrecipes::Hold& hold) {
  if (!hold.is_valid()) return;  // that it is lost has been said
  try {
    if (!hold.release_for(std::chrono::seconds(5)))
      say("the servers have not confirmed the release; the lock is free when the session ends");
  } catch (const zkrecipes::Error& error) {
    say(error.what());
  }
}

struct Outcome {
  int status = kSuccess;
  bool interrupted = false;              ///< by SIGINT
  bool interrupted_at_terminal = false;  ///< by Ctrl-C, which only the command has seen
};

Outcome run_with(const RunOptions& options, const Signals& signals, Guardian& guardian) {
  const auto deadline = options.wait ? Clock::now() + *options.wait : Clock::time_point::max();
  Session session(options.connection);
  LockRequest request(session, options);
  // A try needs a connection, too, so -n waits for the first one.
  session.connect(signals, options.wait && options.wait->count() > 0 ? deadline : Clock::time_point::max());
  std::optional<zkrecipes::Hold> hold = request.acquire(signals, guardian, deadline);
  if (!hold) return {conflict(options)};
  Outcome outcome;
  try {
    Supervisor supervisor(session, *hold, options, signals, guardian);
    outcome.status = supervisor.run();
    outcome.interrupted = supervisor.was_interrupted();
    outcome.interrupted_at_terminal = supervisor.was_interrupted_at_the_terminal();
  } catch (...) {
    guardian.stop();  // before the lock is released
    throw;
  }
  release(*hold);
  return outcome;
}

}  // namespace

int run(const std::vector<std::string>& words) {
  const std::optional<RunOptions> options = parse_run_options(words);
  if (!options) return kSuccess;
  check_executable(options->command.front());
  check_process_tree();
  // A line that nobody reads must not end zklock, and with it the command.
  const bool ignores_pipe = ::signal(SIGPIPE, SIG_IGN) == SIG_IGN;
  Outcome outcome;
  {
    const Signals signals(Signals::Stop::to_be_read);
    Guardian guardian(settings_for(*options, signals, ignores_pipe));
    try {
      outcome = run_with(*options, signals, guardian);
      guardian.done();
    } catch (const Interrupted& interrupted) {
      outcome.status = kSignalled + interrupted.signal;
      outcome.interrupted = interrupted.signal == SIGINT;
    }
  }
  // A shell ends the script or the loop around zklock only if zklock has died of SIGINT.
  if (outcome.interrupted) Signals::end_by(SIGINT);
  // As if zklock had seen Ctrl-C, too, and others of its group. Comes back if the signal is ignored.
  if (outcome.interrupted_at_terminal) ::kill(0, SIGINT);
  return outcome.status;
}

}  // namespace zklock
