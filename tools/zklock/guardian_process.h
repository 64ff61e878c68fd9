// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/zklock/guardian_protocol.h"

namespace zklock {

/// The whole life of the guardian process, in that process. Returns its exit status.
int run_guardian(int socket, const GuardianSettings& settings, SharedLease& lease) noexcept;

}  // namespace zklock
