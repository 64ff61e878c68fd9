// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "examples/pause/timeline.h"

namespace pause_example {

/// One way to guard a write, and where the pause falls.
struct Guard {
  std::string title;
  bool checks_validity = false;
  bool fenced = false;
  std::string paused_before;  ///< "check" or "write"
};

/// No check; is_valid() with the pause before the check; with the pause after it; the token checked by the store.
const std::vector<Guard>& guards();

struct Outcome {
  const Guard* guard = nullptr;
  std::vector<Event> events;  ///< in order of time
  int value = 0;              ///< in the store, at the end
  int expected = 0;
  bool refused = false;  ///< the store refused A's late write
  bool gave_up = false;  ///< A noticed in time

  bool lost_update() const { return value != expected; }
  std::string verdict() const;
};

/// Writer A adds 1. It is stopped before it writes; meanwhile its session ends, writer B gets the lock and adds 10.
/// Then A continues. Writers and store are processes, made of this program; all are ended on return.
Outcome run_scenario(const Guard& guard, const std::string& servers, int session_timeout, const std::string& path);

}  // namespace pause_example
