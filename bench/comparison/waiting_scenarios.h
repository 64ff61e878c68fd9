// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/comparison/result.h"
#include "bench/comparison/trial.h"

namespace comparison {

/// How those who wait are woken, in which order they are served, which tokens they get and how much they ask meanwhile.
Waiting watch_waiting(const Trial& trial);

}  // namespace comparison
