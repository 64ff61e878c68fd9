// SPDX-License-Identifier: Apache-2.0
// The code of docs/sessions.md, run.
#include <iostream>
#include <stdexcept>

#include "tests/docs/docs_test.h"

namespace zkrecipes::testing {
namespace {

TEST_F(DocsTest, Sessions_TheServersGrantWhatIsAskedFor) {
  ::testing::internal::CaptureStdout();
#include <docs/sessions_1.inc>
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "the servers grant 10000 ms\n");
}

}  // namespace
}  // namespace zkrecipes::testing
