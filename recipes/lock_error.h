// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>

#include "connection/client.h"

namespace zkrecipes::detail {

/// What to throw when the server (or the closed connection) has spoken its last word on a lock path.
std::exception_ptr lock_error(Status status, const std::string& path, const Client& client);

/// The sequence numbers under `path` are used up.
std::exception_ptr sequence_error(const std::string& path);
/// For a lock with a queue that has found a semaphore at its path.
std::exception_ptr semaphore_error(const std::string& path);
/// The same where the folder that would be a semaphore's may not be listed.
std::exception_ptr hidden_folder_error(const std::string& path);
/// For a semaphore that has found `node`, of a lock with a queue, at its path.
std::exception_ptr occupied_error(const std::string& path, const std::string& node);
/// For a waiter that the new number of permits is too small for.
std::exception_ptr permits_error(const std::string& path, int wanted, int permits);

}  // namespace zkrecipes::detail
