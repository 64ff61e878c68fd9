// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "bench/comparison/contender.h"
#include "bench/comparison/locks/design.h"
#include "bench/comparison/servers/service.h"

namespace comparison {

/// One design with its servers, on trial.
struct Trial {
  const Design& design;
  Service& service;
  std::chrono::milliseconds lease;

  /// `lock_name`: of its own for each scenario.
  ContenderSpec contender(const std::string& lock_name, const std::string& store_port = "0") const;
  /// With a lease that does not run out while all is well.
  ContenderSpec contender_with_time(const std::string& lock_name) const;
};

}  // namespace comparison
