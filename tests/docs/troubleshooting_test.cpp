// SPDX-License-Identifier: Apache-2.0
// The code of docs/troubleshooting.md, run.
#include <iostream>

#include "tests/docs/docs_test.h"

namespace zkrecipes::testing {
namespace {

TEST_F(DocsTest, Troubleshooting_ListsHolderAndWaiters) {
  Connection& connection = connect();
  FairMutex mutex(connection, kPath);
  const Hold hold = mutex.acquire();
  const PendingHold waiting = mutex.acquire_async();
  EXPECT_TRUE(wait_for_children(kPath, 2));
  ::testing::internal::CaptureStdout();
  {
#include <docs/troubleshooting_1.inc>
  } EXPECT_THAT(::testing::internal::GetCapturedStdout(),
                ::testing::ContainsRegex("holds .*token " + hold.token().to_string() + " \nwaits "));
}

}  // namespace
}  // namespace zkrecipes::testing
