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

}  // namespace

Signals::Signals() {
  sigset_t handled;
  ::sigemptyset(&handled);
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

bool Signals::ends(int signal) noexcept {
  return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

}  // namespace zklock
