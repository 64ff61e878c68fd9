// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <utility>

#include "connection/log.h"

namespace zkrecipes::detail {

/// Logs an exception that was thrown by `what`; `error` is null when it is no std::exception.
void log_exception(const Log& log, const char* what, const std::exception* error) noexcept;

/// Calls code of the user on a thread of the library, where nobody could catch what it throws: that is logged and
/// dropped, so that one callback cannot harm the others. `what` names the callback in the log.
template <class Call>
void call_guarded(const Log& log, const char* what, Call&& call) noexcept {
  try {
    std::forward<Call>(call)();
  } catch (const std::exception& error) {
    log_exception(log, what, &error);
  } catch (...) {
    log_exception(log, what, nullptr);
  }
}

}  // namespace zkrecipes::detail
