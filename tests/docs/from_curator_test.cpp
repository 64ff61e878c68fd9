// SPDX-License-Identifier: Apache-2.0
// The C++ of docs/from-curator.md, run.
#include <stdexcept>

#include "tests/docs/docs_test.h"

namespace zkrecipes::testing {
namespace {

TEST_F(DocsTest, FromCurator_AMutexWithATimeLimit) {
  Store store;
  struct {
    void cancel() { cancelled = true; }
    std::atomic<bool> cancelled{false};
  } job;
  Connection& connection = connect();
  {
#include <docs/from-curator_1.inc>
    EXPECT_EQ(store.writes, 1);
#include <docs/from-curator_2.inc>
    expire_session(connection);
    EXPECT_TRUE(wait_for([&] { return job.cancelled.load(); }));
  }
}

}  // namespace
}  // namespace zkrecipes::testing
