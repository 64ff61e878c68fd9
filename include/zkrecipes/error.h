// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <system_error>

namespace zkrecipes {

/// Why an operation failed for good. What can be waited out or resolved (a lost connection, a lost reply, an expired
/// session while waiting) is never reported: the library resolves it.
enum class ErrorCode {
  connection_closed = 1,  ///< the Connection was closed, by the program or because it gave up
  cancelled,              ///< the pending acquire was cancelled
  not_authorized,         ///< the server refuses: credentials or ACL
  session_lost,           ///< the session that owned the hold is over
  not_held,               ///< released, moved from or never acquired
  sequence_exhausted,     ///< the lock path has used up its 2^31 sequence numbers
  unusable_path,          ///< the lock path cannot hold a lock (an ephemeral parent, another program's data node)
  too_many_watches,       ///< more waiters than one connection can watch for
  forked,                 ///< used in the child of a fork()
  unsupported,            ///< neither the server nor the installed C client can do it
  rejected,               ///< any other final refusal by the server
  too_large,              ///< a request larger than the server accepts (jute.maxbuffer)
};

const std::error_category& error_category() noexcept;
std::error_code make_error_code(ErrorCode code) noexcept;

/// Base of all errors that zkrecipes throws at run time. what() says what happened and what to do; code() is for
/// programs. Bad arguments throw std::invalid_argument instead, wrong use (such as a blocking call on the callback
/// thread) std::logic_error.
class Error : public std::system_error {
 public:
  Error(ErrorCode code, const std::string& message);
};

class ConnectionClosed : public Error {
 public:
  explicit ConnectionClosed(const std::string& message);
};

class Cancelled : public Error {
 public:
  explicit Cancelled(const std::string& message);
};

class NotAuthorized : public Error {
 public:
  explicit NotAuthorized(const std::string& message);
};

}  // namespace zkrecipes

template <>
struct std::is_error_code_enum<zkrecipes::ErrorCode> : std::true_type {};
