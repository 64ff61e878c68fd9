// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/waiting/waiting_test.h"

namespace zkrecipes::testing {

/// What the pages in docs/waiting write to.
struct Store {
  void write(FencingToken token) {
    EXPECT_GT(token.zxid, 0);
    ++writes;
  }
  void forget() { ++forgotten; }
  std::atomic<int> writes{0};
  std::atomic<int> forgotten{0};
};

class DocsTest : public WaitingTest {};

}  // namespace zkrecipes::testing
