// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/version.h"

namespace zkrecipes {

const char* version() noexcept {
  return ZKRECIPES_VERSION;
}

}  // namespace zkrecipes
