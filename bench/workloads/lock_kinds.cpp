// SPDX-License-Identifier: Apache-2.0
#include "bench/workloads/lock_kinds.h"

#ifdef ZKRECIPES_HAS_PROMETHEUS
#include <prometheus/registry.h>
#include <zkrecipes/prometheus.h>
#endif

namespace bench {

std::vector<std::string> lock_kinds() {
  std::vector<std::string> kinds = {"fair", "look-ahead", "retained", "simple"};
#ifdef ZKRECIPES_HAS_PROMETHEUS
  kinds.emplace_back("observed");
#endif
  return kinds;
}

std::shared_ptr<zkrecipes::Observer> observer(const DriverOptions& options) {
#ifdef ZKRECIPES_HAS_PROMETHEUS
  if (options.lock == "observed")
    return std::make_shared<zkrecipes::PrometheusObserver>(std::make_shared<prometheus::Registry>());
#else
  static_cast<void>(options);
#endif
  return nullptr;
}

bool is_simple(const DriverOptions& options) {
  return options.lock == "simple";
}

zkrecipes::LockOptions lock_options(const DriverOptions& options) {
  if (options.lock == "retained") return retaining();
  zkrecipes::LockOptions result;
  result.look_ahead = options.lock == "look-ahead";
  result.name = options.workload;
  return result;
}

zkrecipes::LockOptions retaining() {
  zkrecipes::LockOptions result;
  result.retain = std::chrono::minutes(1);
  return result;
}

}  // namespace bench
