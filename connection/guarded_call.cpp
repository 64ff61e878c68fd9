// SPDX-License-Identifier: Apache-2.0
#include "connection/guarded_call.h"

#include <glog/logging.h>

namespace zkrecipes::connection {

void log_exception(const char* what, const std::exception* error) noexcept {
  LOG(ERROR) << "zkrecipes: " << what << " threw" << (error != nullptr ? ": " : "")
             << (error != nullptr ? error->what() : "");
}

}  // namespace zkrecipes::connection
