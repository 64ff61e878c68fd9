// SPDX-License-Identifier: Apache-2.0
#include "bench/workloads/lock_kinds.h"

namespace bench {

std::vector<std::string> lock_kinds() {
  return {"fair", "look-ahead", "retained", "simple"};
}

bool is_simple(const DriverOptions& options) {
  return options.lock == "simple";
}

zkrecipes::LockOptions lock_options(const DriverOptions& options) {
  if (options.lock == "retained") return retaining();
  zkrecipes::LockOptions result;
  result.look_ahead = options.lock == "look-ahead";
  return result;
}

zkrecipes::LockOptions retaining() {
  zkrecipes::LockOptions result;
  result.retain = std::chrono::minutes(1);
  return result;
}

}  // namespace bench
