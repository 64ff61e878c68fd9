// SPDX-License-Identifier: Apache-2.0
// The C++ of docs/from-curator.md, run.
#include <mutex>
#include <stdexcept>
#include <thread>

#include "tests/docs/docs_test.h"

namespace zkrecipes::testing {
namespace {

TEST_F(DocsTest, FromCurator_AMutexWithATimeLimit) {
  Store store;
  struct Work {
    void cancel() { cancelled = true; }
    std::atomic<bool> cancelled{false};
  };
  const auto job = std::make_shared<Work>();
  Connection& connection = connect();
  {
#include <docs/from-curator_1.inc>
    EXPECT_EQ(store.writes, 1);
#include <docs/from-curator_2.inc>
    expire_session(connection);
    EXPECT_TRUE(wait_for([&] { return job->cancelled.load(); }));
  }
}

TEST_F(DocsTest, FromCurator_OnlyDepthKnowsTheThread) {
  RecursiveFairMutex mutex(connect(), kPath);
  const std::lock_guard<RecursiveFairMutex> lock(mutex);
  EXPECT_EQ(mutex.depth(), 1);
  std::thread([&] {
    EXPECT_TRUE(mutex.is_held());
    EXPECT_EQ(mutex.depth(), 0);
  }).join();
}

}  // namespace
}  // namespace zkrecipes::testing
