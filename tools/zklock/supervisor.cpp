// SPDX-License-Identifier: Apache-2.0
#include "tools/zklock/supervisor.h"

#include <algorithm>
#include <csignal>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "tools/zklock/duration.h"
#include "tools/zklock/executable.h"
#include "tools/zklock/exit_codes.h"
#include "tools/zklock/say.h"
#include "tools/zklock/terminal.h"
#include "tools/zklock/text.h"

namespace zklock {
namespace {

/// For the guardian, in addition to the time that the command has.
constexpr std::chrono::seconds kMoment{1};

}  // namespace

Supervisor::Supervisor(Session& session, const zkrecipes::Hold& hold, const RunOptions& options, const Signals& signals,
                       Guardian& guardian)
    : session_(session),
      hold_(hold),
      options_(options),
      signals_(signals),
      guardian_(guardian),
      lost_(hold.on_lost([this] {
        hold_is_lost_ = true;
        session_.wakeup().notify();
      })),
      feed_(hold, session.connection(), guardian.lease()) {}

Supervisor::~Supervisor() {
  lost_.disconnect_and_wait();
  take_terminal();
}

int Supervisor::run() {
  try {
    start();
    wait_for_the_command();
  } catch (...) {
    // Ended by force, the command may leave the terminal in any state.
    guardian_.stop();
    if (!ended_) ended_ = SIGKILL;
    throw;
  }
  hold_on();
  return status();
}

void Supervisor::start() {
  terminal_given_ = terminal_is_ours_to_give();
  if (terminal_given_) modes_ = terminal_modes();
  had_terminal_ = terminal_given_;
  guardian_.start(
      {"ZKLOCK_PATH=" + options_.path, "ZKLOCK_NODE=" + hold_.node(), "ZKLOCK_TOKEN=" + hold_.token().to_string(),
       "ZKLOCK_SESSION=" + session_text(session_.connection().session_id())},
      terminal_given_);
  if (loudness() == Loudness::verbose)
    say("holding " + options_.path + " with token " + hold_.token().to_string() + "; starting the command");
}

void Supervisor::wait_for_the_command() {
  const auto limit = options_.limit ? granted_ + *options_.limit : Clock::time_point::max();
  while (!clean_) {
    wait(std::min(ended_by_limit_ || ended_ ? Clock::time_point::max() : limit, guardian_by_));
    while (const auto signal = signals_.next()) handle_signal(*signal);
    while (const auto report = guardian_.next()) handle(*report);
    if (hold_is_lost_) handle_loss();
    if (!ended_by_limit_ && !ended_ && Clock::now() >= limit) {
      ended_by_limit_ = true;
      guardian_.end();
      guardian_by_ = std::min(guardian_by_, Clock::now() + options_.kill_after.value_or(kKillAfter) + kMoment);
      say("the limit of " + to_text(*options_.limit) + " is over; ending the command");
    }
    if (Clock::now() < guardian_by_) continue;
    if (!loss_handled_ && !guardian_.is_stopped()) {
      // It works, and cannot end a program of another user (sudo). The lock is held until that program has ended.
      guardian_by_ = Clock::now() + kMoment;
    } else {
      // It was stopped, or it hangs while the lock is lost, so there is nothing to wait for.
      guardian_.kill();
      if (!ended_) ended_ = SIGKILL;
      clean_ = true;
    }
  }
}

void Supervisor::handle_signal(int signal) {
  if (signal == SIGWINCH) return;
  if (Signals::ends(signal)) ending_signals_.insert(signal);
  if (signal == SIGTSTP && ended_) return Signals::stop(::getpid());
  // We stop when the command has stopped, if it does.
  if (signal == SIGTSTP) stop_passed_on_ = true;
  guardian_.pass_on(signal);
}

void Supervisor::handle(const Report& report) {
  switch (report.kind) {
    case Report::Kind::started:
      command_ = report.value;
      return;
    case Report::Kind::not_started:
      throw_not_started(options_.command.front(), report.value);
    case Report::Kind::too_late:
      throw Failure(kLockLost, options_.path + ": the lock was lost before the command was started");
    case Report::Kind::ended:
      ended_ = report.value;
      take_terminal();
      // A command that exits by itself may leave daemons (setsid). One that was killed has no say in it.
      return guardian_.finish(WIFSIGNALED(report.value));
    case Report::Kind::stopped:
      return command_stopped(report.value);
    case Report::Kind::lease_over:
      hold_is_lost_ = true;
      return handle_loss();
    case Report::Kind::leftovers:
      return say("the command has ended and left " +
                 (report.value == 1 ? "a process" : std::to_string(report.value) + " processes") +
                 " behind; ending what is left before the lock is released");
    case Report::Kind::clean:
      clean_ = true;
      // A job of the command may have had the terminal, and lived longer.
      if (had_terminal_) take_terminal_back(command_, ::getpgrp());
      return;
  }
}

void Supervisor::handle_loss() {
  if (std::exchange(loss_handled_, true)) return;
  if (options_.on_lost == OnLost::ignore)
    return complain(options_.path + ": the lock is lost; the command goes on without it");
  ended_by_loss_ = !ended_;
  guardian_.lost();
  guardian_by_ = Clock::now() + options_.kill_after.value_or(std::chrono::milliseconds(guardian_.lease().grace));
  // One that is stopped does not use its moment.
  if (!guardian_.is_stopped()) guardian_by_ += kMoment;
  complain(options_.path + ": the lock is lost; ending the command");
}

/// Ctrl-Z, or a command in the background that reads from the terminal: the shell must see zklock stop, too. While
/// zklock is stopped it sends no heartbeats; when the lease runs out, the guardian ends the command.
void Supervisor::command_stopped(int signal) {
  if (signal != SIGTSTP && signal != SIGTTIN && signal != SIGTTOU) return;
  if (signal != SIGTSTP && terminal_is_ours()) {
    // Only standard input or output is redirected, and the command needs the terminal itself.
    give_terminal();
    return guardian_.pass_on(SIGCONT);
  }
  const bool was_for_us = signal == SIGTSTP && std::exchange(stop_passed_on_, false);
  if (!was_for_us && !terminal_modes()) return;  // there is no terminal
  take_terminal();
  // If only the command has seen Ctrl-Z, the other processes of a pipeline must stop, too. Not by SIGSTOP: where no
  // shell could continue us, the command goes on at once.
  Signals::stop(was_for_us ? ::getpid() : 0);
  if (terminal_is_ours_to_give()) give_terminal();
  guardian_.pass_on(SIGCONT);
}

void Supervisor::hold_on() {
  const auto end = granted_ + options_.hold_at_least;
  if (Clock::now() >= end || hold_is_lost_) return;
  if (was_asked_to_end()) return say("giving up the lock before --hold-at-least is over");
  if (end - Clock::now() > std::chrono::seconds(3))
    say("the command has ended; holding the lock for another " +
        to_text(std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now())) + " (--hold-at-least)");
  while (Clock::now() < end) {
    // Not for the guardian: it has nothing to do any more, and if it dies now nothing is lost.
    wait_readable({signals_.get(), session_.wakeup().get()}, end);
    session_.wakeup().clear();
    if (hold_is_lost_) return complain(options_.path + ": the lock is lost before --hold-at-least was over");
    if (signals_.next_that_ends()) return say("giving up the lock before --hold-at-least is over");
  }
}

int Supervisor::status() const {
  if (ended_by_loss_) return kLockLost;
  if (ended_by_limit_) return kLimitReached;
  return WIFSIGNALED(*ended_) ? kSignalled + WTERMSIG(*ended_) : WEXITSTATUS(*ended_);
}

void Supervisor::wait(Clock::time_point deadline) {
  wait_readable({signals_.get(), guardian_.get(), session_.wakeup().get()}, deadline);
  session_.wakeup().clear();
}

bool Supervisor::was_ended_by(int signal) const {
  return ended_ && WIFSIGNALED(*ended_) && WTERMSIG(*ended_) == signal;
}

bool Supervisor::was_interrupted() const {
  return was_ended_by(SIGINT) && ending_signals_.count(SIGINT) != 0 && !ended_by_loss_ && !ended_by_limit_;
}

bool Supervisor::was_interrupted_at_the_terminal() const {
  return was_ended_by(SIGINT) && ending_signals_.count(SIGINT) == 0 && had_terminal_;
}

/// INT and TERM always mean the end. HUP and QUIT may be an order to read a configuration again, for example; the
/// command shows by its end what they meant.
bool Supervisor::was_asked_to_end() const {
  const auto asks = [this](int signal) {
    return signal == SIGINT || signal == SIGTERM || WIFSIGNALED(*ended_) || WEXITSTATUS(*ended_) == kSignalled + signal;
  };
  return was_interrupted_at_the_terminal() || std::any_of(ending_signals_.begin(), ending_signals_.end(), asks);
}

void Supervisor::give_terminal() {
  terminal_given_ = true;
  had_terminal_ = true;
  if (!modes_) modes_ = terminal_modes();
  give_terminal_to(command_);
}

void Supervisor::take_terminal() {
  if (!std::exchange(terminal_given_, false)) return;
  take_terminal_back(command_, ::getpgrp());
  if (modes_ && ended_ && WIFSIGNALED(*ended_)) restore_terminal_modes(*modes_);
}

}  // namespace zklock
