// SPDX-License-Identifier: Apache-2.0
#include "connection/timers.h"

#include <chrono>
#include <gtest/gtest.h>
#include <memory>
#include <string>

#include "tests/simulation/simulated_lane.h"
#include "tests/simulation/simulated_world.h"

namespace zkrecipes::simulation {
namespace {

using std::chrono::seconds;

class TimersTest : public ::testing::Test {
 protected:
  detail::TimerId add(int after, char c) {
    return timers.add(world.now() + seconds(after), [this, c] { order += c; });
  }

  Scheduler scheduler{1};
  Trace trace{scheduler};
  Ensemble ensemble{scheduler, trace, {}};
  NameService names{ensemble};
  Process process{scheduler, 1};
  SimulatedWorld world{process, ensemble, names};
  SimulatedLane lane{world};
  detail::Timers timers{world, lane};
  std::string order;
};

TEST_F(TimersTest, RunWhenTheyAreDue) {
  add(3, 'c');
  add(1, 'a');
  add(2, 'b');
  scheduler.run_until(std::chrono::milliseconds(999));
  EXPECT_EQ(order, "");
  scheduler.run_until(std::chrono::milliseconds(2500));
  EXPECT_EQ(order, "ab");
  scheduler.run_until(seconds(4));
  EXPECT_EQ(order, "abc");
  EXPECT_EQ(timers.size(), 0U);
}

TEST_F(TimersTest, OneThatIsCancelled_IsGoneAtOnceAndTheOthersRun) {
  const auto owned = std::make_shared<int>(0);
  const detail::TimerId first = timers.add(world.now() + seconds(1), [owned] { FAIL(); });
  add(2, 'b');
  timers.cancel(first);
  timers.cancel(first);
  timers.cancel(0);
  EXPECT_EQ(owned.use_count(), 1);
  EXPECT_EQ(timers.size(), 1U);
  scheduler.run_until(seconds(3));
  EXPECT_EQ(order, "b");
}

TEST_F(TimersTest, ATimer_MayAddAndCancelOthers) {
  const detail::TimerId never = add(2, 'x');
  timers.add(world.now() + seconds(1), [this, never] {
    timers.cancel(never);
    add(1, 'a');
  });
  scheduler.run_until(seconds(3));
  EXPECT_EQ(order, "a");
}

TEST_F(TimersTest, ALaneThatIsDrained_RunsThemAheadOfTheirTime) {
  add(3600, 'b');
  add(60, 'a');
  scheduler.run_until(seconds(1));
  lane.drain();
  EXPECT_EQ(order, "ab");
}

TEST_F(TimersTest, ManyThatAreCancelled_LeaveFewTasksOnTheLane) {
  const auto before = lane.posted();
  for (int i = 0; i < 1000; ++i) timers.cancel(add(10, 'x'));
  EXPECT_LE(lane.posted() - before, 1U);
}

}  // namespace
}  // namespace zkrecipes::simulation
