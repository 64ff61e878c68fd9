// SPDX-License-Identifier: Apache-2.0
#include "bench/comparison/trial.h"

#include <unistd.h>

namespace comparison {
namespace {

constexpr std::chrono::seconds kLongLease{60};

}  // namespace

ContenderSpec Trial::contender(const std::string& lock_name, const std::string& store_port) const {
  ContenderSpec spec;
  spec.design = design.key;
  spec.endpoints = service.endpoints();
  // ZooKeeper may be one that others use, too.
  spec.lock_name = "comparison-" + std::to_string(::getpid()) + "-" + design.key + "-" + lock_name;
  spec.lease = lease;
  spec.store_port = store_port;
  return spec;
}

ContenderSpec Trial::contender_with_time(const std::string& lock_name) const {
  ContenderSpec spec = contender(lock_name);
  if (design.fixed_lease) spec.lease = kLongLease;
  return spec;
}

}  // namespace comparison
