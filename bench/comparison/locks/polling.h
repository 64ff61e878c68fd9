// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <random>
#include <thread>

namespace comparison {

/// How often the designs ask that nobody tells when the lock is free. On average, for contenders that ask in step would
/// get in each other's way for ever.
constexpr std::chrono::milliseconds kPollInterval{50};

/// Asks until `granted` says yes.
template <class Attempt>
void poll_until(Attempt&& granted) {
  static thread_local std::minstd_rand random(std::random_device{}());
  std::uniform_real_distribution<double> spread(0.5, 1.5);
  while (!granted()) std::this_thread::sleep_for(kPollInterval * spread(random));
}

}  // namespace comparison
