// SPDX-License-Identifier: Apache-2.0
// The code of docs/waiting/coroutine.md, run.
#include <exception>

#include "tests/docs/docs_test.h"
#include "zkrecipes/coroutine.h"

namespace zkrecipes::testing {
namespace {

// The others use the third.
// clang-format off
#include <docs/waiting/coroutine_3.inc>
#include <docs/waiting/coroutine_1.inc>
#include <docs/waiting/coroutine_2.inc>
// clang-format on

TEST_F(DocsTest, Coroutine_GivesTheHoldOrTheReason) {
  Store store;
  FairMutex mutex(connect(), kPath);
  write(mutex, store);
  EXPECT_TRUE(wait_for([&] { return store.writes == 1; }));
  write_in_time(mutex, store, {});
  EXPECT_TRUE(wait_for([&] { return store.writes == 2; }));
  const Hold other = mutex.acquire();
  AcquireOptions options;
  options.deadline = deadline_after(10ms);
  write_in_time(mutex, store, options);
  EXPECT_TRUE(wait_for([&] { return store.forgotten == 1; }));
}

}  // namespace
}  // namespace zkrecipes::testing
