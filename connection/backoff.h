// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "zkrecipes/connection_options.h"

namespace zkrecipes::detail {

/// The next pause of a RetryPolicy. Not thread-safe.
class Backoff {
 public:
  explicit Backoff(const RetryPolicy& policy);

  /// `random` in [0, 1) decides how much jitter is taken off.
  std::chrono::milliseconds next(double random);
  void reset();

 private:
  const RetryPolicy policy_;
  double delay_ms_;
};

/// Throws std::invalid_argument saying what is wrong with it.
void check(const RetryPolicy& policy);

}  // namespace zkrecipes::detail
