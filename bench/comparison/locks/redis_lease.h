// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "bench/comparison/locks/redis_session.h"

namespace comparison {

/// The two steps that one Redis server contributes to a lock with expiry.

/// `SET name owner NX PX lease`; false if another has it or the server cannot be reached.
bool set_lease(RedisSession& session, const std::string& name, const std::string& owner,
               std::chrono::milliseconds lease);
/// Deletes it if it is still that owner's, in one step (a script); false if it was not.
bool delete_lease(RedisSession& session, const std::string& name, const std::string& owner);

}  // namespace comparison
