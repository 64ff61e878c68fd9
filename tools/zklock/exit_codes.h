// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <zkrecipes/error.h>

namespace zklock {

/// What zklock itself ends with; zklock(1) and docs/zklock.md have the same table. `run` otherwise ends with the status
/// of the command, or 128 plus the signal that ended the command or zklock.
enum ExitCode : int {
  kSuccess = 0,
  kConflict = 1,            ///< run: the lock is in use (-n), or was not free in time (-w); -E changes the number
  kUsage = 64,              ///< the command line cannot be understood
  kUnusablePath = 65,       ///< no node path, or a node that cannot be a lock
  kNoSuchNode = 66,         ///< the node to revoke or to break does not exist
  kUnreachable = 69,        ///< no server answered in time
  kNoSuchToken = 76,        ///< break, check: the token is not the one given
  kNotPermitted = 77,       ///< the server refuses: credentials or ACL
  kUnsafeSecret = 78,       ///< a secret on the command line, or a credentials file that cannot be used
  kLockLost = 123,          ///< run: the lock was lost, and the command was ended
  kLimitReached = 124,      ///< run: --limit has ended the command, as with timeout(1)
  kFailure = 125,           ///< any other failure of zklock
  kCannotBeExecuted = 126,  ///< run: the command was found and cannot be started
  kCommandNotFound = 127,   ///< run: there is no such command
  kSignalled = 128,         ///< plus the number of the signal
};

/// What an error of the library means for the exit status.
ExitCode code_for(const zkrecipes::Error& error);

/// Ends the program with a message and a code.
class Failure : public std::runtime_error {
 public:
  Failure(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const noexcept { return code_; }

 private:
  ExitCode code_;
};

}  // namespace zklock
