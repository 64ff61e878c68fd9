// SPDX-License-Identifier: Apache-2.0
// The code of docs/waiting/coroutine.md, run. The included files are made from the page.
#include <exception>

#include "tests/waiting/docs_test.h"
#include "zkrecipes/coroutine.h"

namespace zkrecipes::testing {
namespace {

// The others use the third.
// clang-format off
#include <coroutine_3.inc>
#include <coroutine_1.inc>
#include <coroutine_2.inc>
// clang-format on

TEST_F(DocsTest, Coroutine_GivesTheHoldOrTheReason) {
  Store store;
  FairMutex mutex(connect(), kPath);
  write(mutex, store);
  EXPECT_TRUE(wait_for([&] { return store.writes == 1; }));
  write_in_time(mutex, store, {});
  EXPECT_TRUE(wait_for([&] { return store.writes == 2; }));
  const Hold other = mutex.acquire();
  write_in_time(mutex, store, within(10ms));
  EXPECT_TRUE(wait_for([&] { return store.forgotten == 1; }));
}

}  // namespace
}  // namespace zkrecipes::testing
