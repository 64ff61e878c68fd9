// SPDX-License-Identifier: Apache-2.0
#include "connection/fork_guard.h"

#include <atomic>
#include <pthread.h>

namespace zkrecipes::detail {

namespace {

std::atomic<unsigned> generation{0};

void count_fork() {
  generation.fetch_add(1);
}

}  // namespace

ForkGuard::ForkGuard() {
  static const int registered = pthread_atfork(nullptr, nullptr, &count_fork);
  static_cast<void>(registered);
  generation_ = generation.load();
}

bool ForkGuard::in_child() const noexcept {
  return generation_ != generation.load();
}

}  // namespace zkrecipes::detail
