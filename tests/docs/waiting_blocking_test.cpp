// SPDX-License-Identifier: Apache-2.0
// The code of docs/waiting/blocking.md, run.
#include <iostream>
#include <mutex>
#include <thread>

#include "tests/docs/docs_test.h"

namespace zkrecipes::testing {
namespace {

TEST_F(DocsTest, Blocking_ALockGuard) {
  Store store;
  FairMutex mutex(connect(), kPath);
#include <docs/waiting/blocking_1.inc>
  EXPECT_EQ(store.writes, 1);
}

TEST_F(DocsTest, Blocking_ATimeLimit) {
  Store store;
  FairMutex mutex(connect(), kPath);
#include <docs/waiting/blocking_2.inc>
  EXPECT_EQ(store.writes, 1);
}

TEST_F(DocsTest, Blocking_AStop) {
  Store store;
  FairMutex mutex(connect(), kPath);
  const Hold other = mutex.acquire();
#include <docs/waiting/blocking_3.inc>
  EXPECT_EQ(store.writes, 0);
}

}  // namespace
}  // namespace zkrecipes::testing
