// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/comparison/result.h"
#include "bench/comparison/trial.h"

namespace comparison {

/// SIGKILL for the holder, while another one waits.
Death kill_holder(const Trial& trial);

/// SIGSTOP for the holder when it has read the number in the store and is about to write it back with 1 added. The
/// other one adds 10, if it is given the lock. Then the first continues.
Pause pause_holder(const Trial& trial);

/// The servers fail under a holder, while another one waits.
Failure fail_servers(const Trial& trial);

}  // namespace comparison
