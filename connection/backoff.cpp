// SPDX-License-Identifier: Apache-2.0
#include "connection/backoff.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace zkrecipes::detail {

Backoff::Backoff(const RetryPolicy& policy)
    : policy_(policy), delay_ms_(static_cast<double>(policy.initial_delay.count())) {}

std::chrono::milliseconds Backoff::next(double random) {
  const double limit = static_cast<double>(policy_.max_delay.count());
  const double full = std::min(delay_ms_, limit);
  delay_ms_ = std::min(delay_ms_ * policy_.multiplier, limit);
  const double shortened = full * (1.0 - policy_.jitter * random);
  // Never zero: a loop that fails at once must not spin.
  return std::chrono::milliseconds(std::max<long long>(1, std::llround(shortened)));
}

void Backoff::reset() {
  delay_ms_ = static_cast<double>(policy_.initial_delay.count());
}

void check(const RetryPolicy& policy) {
  if (policy.initial_delay <= std::chrono::milliseconds::zero())
    throw std::invalid_argument("zkrecipes: RetryPolicy::initial_delay must be positive");
  if (policy.max_delay < policy.initial_delay)
    throw std::invalid_argument("zkrecipes: RetryPolicy::max_delay must not be less than initial_delay");
  if (!(policy.multiplier >= 1.0)) throw std::invalid_argument("zkrecipes: RetryPolicy::multiplier must be at least 1");
  if (!(policy.jitter >= 0.0 && policy.jitter <= 1.0))
    throw std::invalid_argument("zkrecipes: RetryPolicy::jitter must be between 0 and 1");
  if (policy.give_up_after < std::chrono::milliseconds::zero())
    throw std::invalid_argument("zkrecipes: RetryPolicy::give_up_after must not be negative (0: never give up)");
}

}  // namespace zkrecipes::detail
