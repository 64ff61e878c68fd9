// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/acquire_result.h"

#include <ostream>
#include <stdexcept>

#include "zkrecipes/error.h"

namespace zkrecipes {

const char* to_string(AcquireStatus status) noexcept {
  switch (status) {
    case AcquireStatus::granted:
      return "granted";
    case AcquireStatus::busy:
      return "busy";
    case AcquireStatus::timed_out:
      return "timed out";
    case AcquireStatus::not_connected:
      return "not connected";
    case AcquireStatus::stopped:
      return "stopped";
    case AcquireStatus::failed:
      return "failed";
  }
  return "unknown";
}

std::ostream& operator<<(std::ostream& out, AcquireStatus status) {
  return out << to_string(status);
}

void AcquireResult::check() const {
  switch (status_) {
    case AcquireStatus::granted:
      return;
    case AcquireStatus::busy:
      throw Error(ErrorCode::busy, "lock " + path_ + ": it is not free");
    case AcquireStatus::timed_out:
      throw Error(ErrorCode::timed_out, "lock " + path_ + ": the time was over before it was granted");
    case AcquireStatus::not_connected:
      throw Error(ErrorCode::not_connected,
                  "lock " + path_ + ": there is no connection to the servers; check that they run and can be reached");
    case AcquireStatus::stopped:
      throw Cancelled("lock " + path_ + ": the acquire was stopped");
    case AcquireStatus::failed:
      break;
  }
  if (error_) std::rethrow_exception(error_);
  throw std::logic_error("zkrecipes: value() of an AcquireResult that no acquire has returned");
}

Hold& AcquireResult::value() & {
  check();
  return hold_;
}

const Hold& AcquireResult::value() const& {
  check();
  return hold_;
}

Hold&& AcquireResult::value() && {
  check();
  return std::move(hold_);
}

}  // namespace zkrecipes
