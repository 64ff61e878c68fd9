// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>
#include <vector>

namespace zklock {

struct Process {
  pid_t id = 0;
  pid_t parent = 0;
  pid_t session = 0;
  unsigned long long started = 0;  ///< in ticks of the kernel; tells processes apart that had the same id
};

/// Throws Failure unless /proc shows the processes of this PID namespace. The functions below would find none, or
/// strangers that happen to have the same numbers.
void check_process_tree();

struct Descendants {
  std::vector<Process> found;
  /// False: /proc could not be read, for lack of descriptors or memory, so some may be missing. Processes that /proc
  /// hides from this user (hidepid) do not count: looking again would not show them.
  bool complete = true;
};

/// The processes below `root`, at any depth, that have not ended. A process whose parent has ended belongs to the
/// nearest ancestor that is a subreaper (prctl(2)), so none of them is missed below a subreaper, daemons included.
/// Those in `except` are left out, with what is below them.
Descendants descendants(pid_t root, const std::vector<Process>& except = {});

/// Sends SIGKILL to all processes below this one, again and again, until none is left or the rest belongs to other
/// users; for at most ten seconds if it cannot see them. Reaps those that are children of this process. Spares those
/// in `except`, and what is below them.
void kill_descendants(const std::vector<Process>& except = {});

}  // namespace zklock
