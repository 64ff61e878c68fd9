// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/simulated_lane.h"

#include <chrono>
#include <gtest/gtest.h>
#include <string>

#include "tests/simulation/simulated_world.h"

namespace zkrecipes::simulation {
namespace {

using std::chrono::seconds;

class SimulatedLaneTest : public ::testing::Test {
 protected:
  std::function<void()> append(char c) {
    return [this, c] { order += c; };
  }

  Scheduler scheduler{1};
  Trace trace{scheduler};
  Ensemble ensemble{scheduler, trace, {}};
  NameService names{ensemble};
  Process process{scheduler, 1};
  SimulatedWorld world{process, ensemble, names};
  SimulatedLane lane{world};
  std::string order;
};

TEST_F(SimulatedLaneTest, Tasks_RunInOrderAndNotInsidePost) {
  lane.post(append('a'));
  lane.post(append('b'));
  EXPECT_EQ(order, "");
  scheduler.run_until(seconds(1));
  EXPECT_EQ(order, "ab");
}

TEST_F(SimulatedLaneTest, TimedTasks_RunWhenTheyAreDueAndNotBefore) {
  lane.post_at(world.now() + seconds(2), append('b'));
  lane.post_at(world.now() + seconds(1), append('a'));
  scheduler.run_until(std::chrono::milliseconds(999));
  EXPECT_EQ(order, "");
  scheduler.run_until(std::chrono::milliseconds(1500));
  EXPECT_EQ(order, "a");
  scheduler.run_until(seconds(3));
  EXPECT_EQ(order, "ab");
}

TEST_F(SimulatedLaneTest, Drain_RunsTimedTasksAheadOfTheirTime) {
  lane.post_at(world.now() + seconds(2), append('b'));
  lane.post(append('a'));
  lane.drain();
  EXPECT_EQ(order, "ab");
  scheduler.run_until(seconds(3));
  EXPECT_EQ(order, "ab");
}

TEST_F(SimulatedLaneTest, StopWithDrop_RunsNothingMore) {
  lane.post(append('a'));
  lane.post_at(world.now() + seconds(1), append('b'));
  lane.stop(detail::Lane::Rest::drop);
  lane.post(append('c'));
  scheduler.run_until(seconds(3));
  EXPECT_EQ(order, "");
}

TEST_F(SimulatedLaneTest, StopWithRun_RunsWhatWasPosted) {
  lane.post(append('a'));
  lane.post_at(world.now() + seconds(1), append('b'));
  lane.stop(detail::Lane::Rest::run);
  EXPECT_EQ(order, "a");
}

TEST_F(SimulatedLaneTest, DeadProcess_RunsNothingUnlessItIsTornDown) {
  lane.post(append('a'));
  process.kill();
  scheduler.run_until(seconds(1));
  EXPECT_EQ(order, "");
  lane.finish();
  EXPECT_EQ(order, "a");
}

TEST_F(SimulatedLaneTest, OnThisThread_IsTrueInsideATaskOnly) {
  bool inside = false;
  lane.post([&] { inside = lane.on_this_thread(); });
  EXPECT_FALSE(lane.on_this_thread());
  scheduler.run_until(seconds(1));
  EXPECT_TRUE(inside);
}

TEST_F(SimulatedLaneTest, Latch_WaitsInVirtualTime) {
  const auto latch = world.make_latch();
  EXPECT_FALSE(latch->wait_for(seconds(2)));
  EXPECT_GE(scheduler.now(), seconds(2));
  lane.post([&] { latch->set(); });
  EXPECT_TRUE(latch->wait_for(seconds(2)));
  EXPECT_LT(scheduler.now(), seconds(3));
}

TEST_F(SimulatedLaneTest, ClocksOfADriftingProcess_AgreeWithItsTimers) {
  process.set_clock_rate(0.5);
  const auto began = world.now();
  lane.post_at(began + seconds(1), append('a'));
  scheduler.run_until(std::chrono::milliseconds(1990));
  EXPECT_EQ(order, "");
  scheduler.run_until(std::chrono::milliseconds(2100));
  EXPECT_EQ(order, "a");
}

TEST_F(SimulatedLaneTest, Names_ResolveUnlessTheServiceIsDown) {
  std::string problem;
  EXPECT_EQ(world.resolve({{"zk0", 2181}, {"10.9.9.9", 7}}, problem),
            (std::vector<std::string>{ensemble.address(0), "10.9.9.9:7"}));
  EXPECT_EQ(problem, "");
  names.set_down(true);
  EXPECT_EQ(world.resolve({{"zk0", 2181}}, problem), std::vector<std::string>{});
  EXPECT_NE(problem, "");
}

}  // namespace
}  // namespace zkrecipes::simulation
