// SPDX-License-Identifier: Apache-2.0
// The code of docs/waiting/callback.md, run.
#include <iostream>

#include "tests/docs/docs_test.h"

namespace zkrecipes::testing {
namespace {

TEST_F(DocsTest, Callback_WithADeadline) {
  Store store;
  FairMutex mutex(connect(), kPath);
#include <docs/waiting/callback_1.inc>
  EXPECT_TRUE(wait_for([&] { return store.writes == 1; }));
}

TEST_F(DocsTest, Callback_Cancelled) {
  Store store;
  FairMutex mutex(connect(), kPath);
  const Hold other = mutex.acquire();
  {
#include <docs/waiting/callback_2.inc>
    EXPECT_TRUE(wait_for([&] { return store.forgotten > 0; }));
  }
  EXPECT_EQ(store.forgotten, 1);
}

TEST_F(DocsTest, Callback_Polling) {
  FairMutex mutex(connect(), kPath);
#include <docs/waiting/callback_3.inc>
  EXPECT_TRUE(hold.is_valid());
}

}  // namespace
}  // namespace zkrecipes::testing
