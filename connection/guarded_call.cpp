// SPDX-License-Identifier: Apache-2.0
#include "connection/guarded_call.h"

#include <string>

namespace zkrecipes::detail {

void log_exception(const Log& log, const char* what, const std::exception* error) noexcept {
  log.error(std::string(what) + (error != nullptr ? std::string(" threw: ") + error->what() : " threw"));
}

}  // namespace zkrecipes::detail
