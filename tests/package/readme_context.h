// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <utility>
#include <zkrecipes/zkrecipes.h>

/// Declarations that the README's pieces of code use and do not show.
namespace readme {

struct Store {
  void write(int piece, zkrecipes::FencingToken token);
};

struct Job {
  bool work_left() const;
  int next();
  void cancel();
};

struct Events {
  void post(zkrecipes::AcquireResult result);
};

/// Parameters, because lambdas of the README capture them by name.
#define README_CONTEXT                                                                 \
  [[maybe_unused]] zkrecipes::FairMutex &mutex, [[maybe_unused]] readme::Store &store, \
      [[maybe_unused]] readme::Job &job, [[maybe_unused]] readme::Events &events

void body(README_CONTEXT);

}  // namespace readme
