// SPDX-License-Identifier: Apache-2.0
#include "examples/support/crew.h"

#include <utility>

namespace examples {

Crew::~Crew() {
  for (std::thread& thread : threads_) thread.join();
}

void Crew::start(std::function<void()> work) {
  threads_.emplace_back([this, work = std::move(work)] {
    try {
      work();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!first_error_) first_error_ = std::current_exception();
    }
  });
}

void Crew::join() {
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  if (first_error_) std::rethrow_exception(first_error_);
}

}  // namespace examples
