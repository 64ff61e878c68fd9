// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>

#include "connection/client.h"

namespace zkrecipes::recipes {

/// What to throw when the server (or the closed connection) has spoken its last word on a lock path.
std::exception_ptr lock_error(connection::Status status, const std::string& path, const connection::Client& client);

/// The sequence numbers under `path` are used up.
std::exception_ptr sequence_error(const std::string& path);

}  // namespace zkrecipes::recipes
