// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/error.h"

namespace zkrecipes {

namespace {

class Category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "zkrecipes"; }
  std::string message(int code) const override {
    switch (static_cast<ErrorCode>(code)) {
      case ErrorCode::connection_closed:
        return "connection closed";
      case ErrorCode::cancelled:
        return "cancelled";
      case ErrorCode::not_authorized:
        return "not authorized";
      case ErrorCode::session_lost:
        return "session lost";
      case ErrorCode::not_held:
        return "not held";
      case ErrorCode::sequence_exhausted:
        return "sequence numbers exhausted";
      case ErrorCode::unusable_path:
        return "unusable lock path";
      case ErrorCode::too_many_watches:
        return "too many watches";
      case ErrorCode::forked:
        return "used after fork";
      case ErrorCode::unsupported:
        return "unsupported";
      case ErrorCode::rejected:
        return "rejected";
      case ErrorCode::too_large:
        return "too large";
      case ErrorCode::timed_out:
        return "timed out";
      case ErrorCode::busy:
        return "busy";
      case ErrorCode::not_connected:
        return "not connected";
      case ErrorCode::too_few_permits:
        return "too few permits";
      case ErrorCode::wrong_token:
        return "wrong token";
    }
    return "unknown error";
  }
};

}  // namespace

const std::error_category& error_category() noexcept {
  static const Category category;
  return category;
}

std::error_code make_error_code(ErrorCode code) noexcept {
  return {static_cast<int>(code), error_category()};
}

Error::Error(ErrorCode code, const std::string& message) : std::system_error(code, "zkrecipes: " + message) {}

ConnectionClosed::ConnectionClosed(const std::string& message) : Error(ErrorCode::connection_closed, message) {}

Cancelled::Cancelled(const std::string& message) : Error(ErrorCode::cancelled, message) {}

NotAuthorized::NotAuthorized(const std::string& message) : Error(ErrorCode::not_authorized, message) {}

}  // namespace zkrecipes
