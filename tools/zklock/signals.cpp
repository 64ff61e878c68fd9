// SPDX-License-Identifier: Apache-2.0
#include "tools/zklock/signals.h"

#include <cerrno>
#include <sys/signalfd.h>
#include <unistd.h>

namespace zklock {
namespace {

/// As nohup(1) does with HUP, and a shell without job control with INT and QUIT for commands in the background. Such a
/// signal must not be blocked either: the kernel keeps blocked signals, ignored ones included, and signalfd shows them.
bool is_ignored(int signal) {
  struct sigaction current {};
  return ::sigaction(signal, nullptr, &current) == 0 && current.sa_handler == SIG_IGN;
}

sigset_t only(int signal) {
  sigset_t result;
  ::sigemptyset(&result);
  ::sigaddset(&result, signal);
  return result;
}

}  // namespace

Signals::Signals(Stop stop) {
  sigset_t handled;
  ::sigemptyset(&handled);
  if (stop == Stop::to_be_read && !is_ignored(SIGTSTP)) ::sigaddset(&handled, SIGTSTP);
  for (const int each : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH})
    if (!is_ignored(each)) ::sigaddset(&handled, each);
  sigset_t blocked = handled;
  // Who hands the terminal to another process group is in the background by then.
  ::sigaddset(&blocked, SIGTTOU);
  checked(::sigprocmask(SIG_BLOCK, &blocked, &original_), "sigprocmask");
  descriptor_ = Descriptor(checked(::signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK), "signalfd"));
}

Signals::~Signals() {
  while (next()) continue;  // a signal that came too late for anything must not change the exit status
  ::sigprocmask(SIG_SETMASK, &original_, nullptr);
}

std::optional<int> Signals::next() const {
  signalfd_siginfo info{};
  const ssize_t got = ::read(descriptor_.get(), &info, sizeof info);
  if (got != static_cast<ssize_t>(sizeof info)) return std::nullopt;
  return static_cast<int>(info.ssi_signo);
}

std::optional<int> Signals::next_that_ends() const {
  while (const auto signal = next()) {
    if (ends(*signal)) return signal;
    if (*signal == SIGTSTP) stop(::getpid());
  }
  return std::nullopt;
}

void Signals::stop(pid_t whom) {
  const sigset_t signal = only(SIGTSTP);
  // Other threads have it blocked, so it is delivered to this one before kill() returns.
  ::pthread_sigmask(SIG_UNBLOCK, &signal, nullptr);
  ::kill(whom, SIGTSTP);
  ::pthread_sigmask(SIG_BLOCK, &signal, nullptr);
}

void Signals::end_by(int signal) noexcept {
  const sigset_t unblocked = only(signal);
  ::pthread_sigmask(SIG_UNBLOCK, &unblocked, nullptr);
  ::raise(signal);
}

bool Signals::ends(int signal) noexcept {
  return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

}  // namespace zklock
