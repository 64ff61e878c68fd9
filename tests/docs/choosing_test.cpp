// SPDX-License-Identifier: Apache-2.0
// The code of docs/choosing.md, run.
#include "tests/docs/docs_test.h"

namespace zkrecipes::testing {
namespace {

TEST_F(DocsTest, Choosing_TheFourKindsSideBySide) {
  Connection& connection = connect();
#include <docs/choosing_1.inc>
  EXPECT_TRUE(report.try_acquire() && nightly.try_acquire() && catalogue.try_acquire_write());
  const Hold first = printers.acquire(2);
  EXPECT_TRUE(printers.try_acquire());
  EXPECT_FALSE(printers.try_acquire(2));
}

TEST_F(DocsTest, Choosing_AJobThatRunsOnce) {
  Connection& connection = connect();
  int runs = 0;
  const auto run_nightly_job = [&](FencingToken) {
    ++runs;
    SimpleLock other_host(connect(), "/locks/nightly");
    EXPECT_FALSE(other_host.try_acquire());
  };
#include <docs/choosing_2.inc>
  EXPECT_EQ(runs, 1);
}

/// Loses its term. Its stop() lets run() return and goes on for a while.
struct Scheduler {
  void run(FencingToken) {
    lose();
    EXPECT_TRUE(wait_for([&] { return stopping.load(); }));
  }
  void stop() {
    stopping = true;
    wait_for([&] { return destroyed.load(); }, 200ms);
    stopped = true;
  }
  std::function<void()> lose;
  std::atomic<bool> stopping{false};
  std::atomic<bool> stopped{false};
  std::atomic<bool> destroyed{false};
};

TEST_F(DocsTest, Choosing_ALeader) {
  Connection& connection = connect();
  Scheduler scheduler;
  scheduler.lose = [&] { expire_session(connection); };
#include <docs/choosing_3.inc>
  EXPECT_TRUE(scheduler.stopped) << "the page destroys the scheduler while stop() runs";
  scheduler.destroyed = true;
  lost.disconnect_and_wait();
}

TEST_F(DocsTest, Choosing_APermit) {
  Connection& connection = connect();
  int converted = 0;
  const auto convert = [&](int) { ++converted; };
  const auto put_back = [](int) { FAIL() << "a permit was free"; };
  const int file = 1;
#include <docs/choosing_4.inc>
  EXPECT_EQ(converted, 1);
}

}  // namespace
}  // namespace zkrecipes::testing
