// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

namespace zklock {

// The controlling terminal belongs to one process group at a time, whose processes may read from it and receive Ctrl-C.
// Each of these does nothing when there is no terminal. SIGTTOU must be blocked (Signals).

/// Whether a command should be given the terminal: zklock has it, and reads from and writes to it. In a pipeline with a
/// pager, for example, the pager needs it.
bool terminal_is_ours_to_give();

void give_terminal_to(pid_t group) noexcept;

/// Takes it back, unless it is by now with another group, such as the shell's. 0: from whichever group.
void take_terminal_back(pid_t from_group) noexcept;

}  // namespace zklock
