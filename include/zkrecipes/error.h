// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <system_error>

namespace zkrecipes {

/// Why an operation failed for good. A lost connection, a lost reply or an expired session while waiting is never
/// reported: the library resolves it or waits for its end.
enum class ErrorCode {
  connection_closed = 1,  ///< the Connection was closed, by the program or because it gave up
  cancelled,              ///< the pending acquire was cancelled
  not_authorized,         ///< the server refuses: credentials or ACL
  session_lost,           ///< the hold was lost before: its session or lease is over, or its node was deleted
  not_held,               ///< released or never acquired
  sequence_exhausted,     ///< the lock path has used up its 2^31 sequence numbers
  unusable_path,          ///< the path cannot hold this lock: another kind of lock or data is there, or no chroot
  too_many_watches,       ///< more waiters than one connection can watch for
  forked,                 ///< used in the child of a fork()
  unsupported,            ///< the server is older than ZooKeeper 3.5
  rejected,               ///< any other final refusal by the server
  too_large,              ///< a request larger than the server accepts (jute.maxbuffer)
  timed_out,              ///< the time that the caller gave was over
  busy,                   ///< a try found the lock in use
  not_connected,          ///< there was no connection to the servers
  too_few_permits,        ///< an acquire of a Semaphore waits for more permits than set_permits() has left
  wrong_token,            ///< break_lock(): the node has another fencing token
};

const std::error_category& error_category() noexcept;
std::error_code make_error_code(ErrorCode code) noexcept;

/// Base of all errors that zkrecipes throws at run time. what() says what happened and, where something can be
/// done about it, what; code() is for programs. Bad arguments throw std::invalid_argument instead. Wrong use, such as a
/// blocking call on the callback thread, throws std::logic_error. A time-out is no error where the call returns an
/// AcquireResult.
///
///     try {
///       hold.release();
///     } catch (const zkrecipes::Error& error) {
///       if (error.code() == zkrecipes::ErrorCode::session_lost) undo();
///     }
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
