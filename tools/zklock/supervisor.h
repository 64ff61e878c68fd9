// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <optional>
#include <set>
#include <sys/types.h>
#include <termios.h>
#include <zkrecipes/hold.h>

#include "tools/zklock/guardian.h"
#include "tools/zklock/lease_feed.h"
#include "tools/zklock/run_options.h"
#include "tools/zklock/session.h"
#include "tools/zklock/signals.h"

namespace zklock {

/// Runs the command, by way of the guardian, while the hold is valid: passes signals on, keeps --limit, --on-lost and
/// --hold-at-least, and looks after the terminal.
class Supervisor {
 public:
  Supervisor(Session& session, const zkrecipes::Hold& hold, const RunOptions& options, const Signals& signals,
             Guardian& guardian);
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  /// Returns the exit status of zklock when the command and what it has started have ended, and the lock has been held
  /// long enough. Throws Failure if the command cannot be started or the guardian is killed.
  int run();

  /// Whether the command was ended by SIGINT, which zklock has passed on.
  bool was_interrupted() const;
  /// The same for a Ctrl-C of which zklock itself has not heard, because the command had the terminal.
  bool was_interrupted_at_the_terminal() const;

 private:
  void handle_signal(int signal);
  bool was_ended_by(int signal) const;
  bool was_asked_to_end() const;
  void start();
  void wait_for_the_command();
  void hold_on();
  int status() const;

  void wait(Clock::time_point deadline);
  void handle(const Report& report);
  void handle_loss();
  void command_stopped(int signal);
  void give_terminal();
  void take_terminal();

  Session& session_;
  const zkrecipes::Hold& hold_;
  const RunOptions& options_;
  const Signals& signals_;
  Guardian& guardian_;
  const Clock::time_point granted_ = Clock::now();
  std::atomic<bool> hold_is_lost_{false};
  zkrecipes::Subscription lost_;
  LeaseFeed feed_;

  std::optional<termios> modes_;  // of the terminal, when it was given to the command
  bool had_terminal_ = false;
  std::set<int> ending_signals_;                              // that zklock has received and passed on
  bool stop_passed_on_ = false;                               // SIGTSTP, and the command has not stopped yet
  Clock::time_point guardian_by_ = Clock::time_point::max();  // when the guardian must have ended the command

  pid_t command_ = 0;
  bool terminal_given_ = false;
  std::optional<int> ended_;  // as from waitpid()
  bool clean_ = false;
  bool loss_handled_ = false;
  bool ended_by_loss_ = false;
  bool ended_by_limit_ = false;
};

}  // namespace zklock
