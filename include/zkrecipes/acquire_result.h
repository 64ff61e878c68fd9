// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <iosfwd>
#include <string>
#include <utility>

#include "zkrecipes/hold.h"

namespace zkrecipes {

namespace detail {
class HoldAccess;
}

enum class AcquireStatus {
  granted,
  busy,           ///< a try: the lock is not free
  timed_out,      ///< the time was over before it was our turn
  not_connected,  ///< there is no connection to the servers: at once for a try, unless the Connection is new (see
                  ///< ExclusiveLock); or still none when the time was over
  stopped,        ///< by a StopToken, or by PendingHold::cancel()
  failed,         ///< for good; see error(). Calls that block throw that error instead
};

const char* to_string(AcquireStatus status) noexcept;
std::ostream& operator<<(std::ostream& out, AcquireStatus status);

/// A hold, or why there is none. Used like std::optional<Hold>. Move-only; a value that each thread needs for itself.
/// It refers to nothing: destroying it, anywhere, releases the hold that is still in it.
///
///     if (zkrecipes::AcquireResult hold = mutex.try_acquire_for(std::chrono::seconds(5)))
///       write(hold->token());
///     else if (hold.status() == zkrecipes::AcquireStatus::not_connected)
///       complain("no ZooKeeper server can be reached");
class [[nodiscard]] AcquireResult {
 public:
  AcquireResult() noexcept = default;  ///< without a hold: failed, and error() is null

  explicit operator bool() const noexcept { return has_value(); }
  bool has_value() const noexcept { return status_ == AcquireStatus::granted; }

  // Only with a hold; moving the hold out leaves an empty one, as with std::optional.
  Hold& operator*() & noexcept { return hold_; }
  const Hold& operator*() const& noexcept { return hold_; }
  Hold&& operator*() && noexcept { return std::move(hold_); }
  Hold* operator->() noexcept { return &hold_; }
  const Hold* operator->() const noexcept { return &hold_; }

  /// The hold. Throws what went wrong if there is none: error(), Cancelled when stopped, or Error with the code busy,
  /// timed_out or not_connected.
  Hold& value() &;
  const Hold& value() const&;
  Hold&& value() &&;

  AcquireStatus status() const noexcept { return status_; }
  /// Not null with `failed` only: ConnectionClosed, NotAuthorized or another Error.
  std::exception_ptr error() const noexcept { return error_; }

 private:
  friend class detail::HoldAccess;
  AcquireResult(AcquireStatus status, Hold hold, std::exception_ptr error, std::string path) noexcept
      : status_(status), hold_(std::move(hold)), error_(std::move(error)), path_(std::move(path)) {}
  void check() const;

  AcquireStatus status_ = AcquireStatus::failed;
  Hold hold_;
  std::exception_ptr error_;
  std::string path_;  // of the lock, for messages; empty with a hold
};

}  // namespace zkrecipes
