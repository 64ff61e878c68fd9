// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <sys/types.h>
#include <termios.h>

namespace zklock {

// The controlling terminal belongs to one process group at a time, whose processes may read from it and receive Ctrl-C.
// Each of these does nothing when there is no terminal. SIGTTOU must be blocked (Signals).

/// Whether a command should be given the terminal: zklock has it, and reads from and writes to it. In a pipeline with a
/// pager, for example, the pager needs it.
bool terminal_is_ours_to_give();

/// Whether zklock has the terminal, whatever it reads from and writes to.
bool terminal_is_ours();

void give_terminal_to(pid_t group) noexcept;

/// Takes it back for `to_group`, unless it is by now with another group that is alive, such as the shell's. A group of
/// which nothing is left may have been a job of the command, if that was a shell.
void take_terminal_back(pid_t from_group, pid_t to_group) noexcept;

/// Echo and the like. Shells restore them only after a command that was killed, which zklock itself was not.
std::optional<termios> terminal_modes();
void restore_terminal_modes(const termios& modes) noexcept;

}  // namespace zklock
