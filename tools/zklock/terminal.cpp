// SPDX-License-Identifier: Apache-2.0
#include "tools/zklock/terminal.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <unistd.h>

#include "tools/zklock/descriptor.h"

namespace zklock {
namespace {

Descriptor terminal() {
  return Descriptor(::open("/dev/tty", O_RDWR | O_CLOEXEC));
}

}  // namespace

bool terminal_is_ours_to_give() {
  return ::isatty(STDIN_FILENO) != 0 && ::isatty(STDOUT_FILENO) != 0 && terminal_is_ours();
}

bool terminal_is_ours() {
  const Descriptor tty = terminal();
  return tty && ::tcgetpgrp(tty.get()) == ::getpgrp();
}

void give_terminal_to(pid_t group) noexcept {
  if (const Descriptor tty = terminal()) ::tcsetpgrp(tty.get(), group);
}

void take_terminal_back(pid_t from_group, pid_t to_group) noexcept {
  const Descriptor tty = terminal();
  if (!tty) return;
  const pid_t group = ::tcgetpgrp(tty.get());
  const bool is_dead = ::kill(-group, 0) != 0 && errno == ESRCH;
  if (group == from_group || is_dead) ::tcsetpgrp(tty.get(), to_group);
}

std::optional<termios> terminal_modes() {
  termios modes{};
  const Descriptor tty = terminal();
  if (!tty || ::tcgetattr(tty.get(), &modes) != 0) return std::nullopt;
  return modes;
}

void restore_terminal_modes(const termios& modes) noexcept {
  if (const Descriptor tty = terminal()) ::tcsetattr(tty.get(), TCSADRAIN, &modes);
}

}  // namespace zklock
