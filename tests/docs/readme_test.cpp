// SPDX-License-Identifier: Apache-2.0
// The code of README.md, run.
#include <future>
#include <thread>

#include "tests/docs/docs_test.h"

namespace zkrecipes::testing {
namespace {

TEST_F(DocsTest, Readme_TheFirstProgramTakesTurns) {
  const auto first = start("README_1");
  const auto my_turn = ::testing::HasSubstr("my turn, with fencing token ");
  EXPECT_THAT(first->read_line(kLimit).value_or(""), my_turn);
  const auto second = start("README_1");
  EXPECT_TRUE(wait_for_children(kPath, 2));
  first->write("\n");
  EXPECT_EQ(first->wait(kLimit), 0);
  EXPECT_THAT(second->read_line(kLimit).value_or(""), my_turn);
  second->write("\n");
  EXPECT_EQ(second->wait(kLimit), 0);
}

struct Job {
  bool work_left() const { return pieces > 0; }
  int next() { return pieces--; }
  void cancel() { cancelled = true; }
  int pieces = 3;
  std::atomic<bool> cancelled{false};
};

TEST_F(DocsTest, Readme_AHoldIsAnObject) {
  Store store;
  const auto job = std::make_shared<Job>();
  FairMutex mutex(connect(), kPath);
#include <README_2.inc>
  EXPECT_EQ(store.writes, 3);
  EXPECT_FALSE(job->cancelled);
}

struct Events {
  void post(AcquireResult result) { posted.set_value(std::move(result)); }
  std::promise<AcquireResult> posted;
};

TEST_F(DocsTest, Readme_ACallbackReceivesTheHold) {
  Events events;
  FairMutex mutex(connect(), kPath);
#include <README_3.inc>
  EXPECT_TRUE(events.posted.get_future().get()->is_valid());
}

}  // namespace
}  // namespace zkrecipes::testing
