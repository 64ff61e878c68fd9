// SPDX-License-Identifier: Apache-2.0
#include "tools/zklock/exit_codes.h"

namespace zklock {

ExitCode code_for(const zkrecipes::Error& error) {
  if (error.code() == zkrecipes::ErrorCode::not_authorized) return kNotPermitted;
  if (error.code() == zkrecipes::ErrorCode::unusable_path) return kUnusablePath;
  if (error.code() == zkrecipes::ErrorCode::not_held) return kNoSuchNode;
  if (error.code() == zkrecipes::ErrorCode::wrong_token) return kNoSuchToken;
  if (error.code() == zkrecipes::ErrorCode::timed_out || error.code() == zkrecipes::ErrorCode::not_connected ||
      error.code() == zkrecipes::ErrorCode::connection_closed)
    return kUnreachable;
  return kFailure;
}

}  // namespace zklock
