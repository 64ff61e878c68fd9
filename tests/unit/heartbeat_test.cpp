// SPDX-License-Identifier: Apache-2.0
#include "connection/heartbeat.h"

#include <gtest/gtest.h>
#include <map>
#include <set>

namespace zkrecipes::detail {
namespace {

using namespace std::chrono_literals;

TEST(HeartbeatPlan, IntervalAndHalfATickOfTheServerFitIntoTheMarginOfALease) {
  // The default: ten seconds, ticks of two.
  EXPECT_LT(HeartbeatPlan::interval(10s) + 1s, 2500ms);
  EXPECT_GE(HeartbeatPlan::interval(10s), 1s) << "not so often that it is felt";
}

TEST(HeartbeatPlan, WithoutProbesThereIsNobodyToAskAfter) {
  HeartbeatPlan plan;
  EXPECT_TRUE(plan.next_batch().empty());
}

TEST(HeartbeatPlan, FewProbesAreAllAskedEachTime) {
  HeartbeatPlan plan;
  plan.add("/a", NodeRole::waits, 0, nullptr);
  plan.add("/b", NodeRole::waits, 0, nullptr);
  for (int n = 0; n < 3; ++n) {
    std::set<std::string> paths;
    for (const auto& [id, path] : plan.next_batch()) paths.insert(path);
    EXPECT_EQ(paths, (std::set<std::string>{"/a", "/b"}));
  }
}

TEST(HeartbeatPlan, ManyProbesTakeTurns) {
  HeartbeatPlan plan;
  constexpr std::size_t kProbes = 1000;
  for (std::size_t n = 0; n < kProbes; ++n) plan.add("/" + std::to_string(n), NodeRole::waits, 0, nullptr);
  std::map<HeartbeatPlan::Id, int> asked;
  std::size_t total = 0;
  while (asked.size() < kProbes && total < 2 * kProbes) {
    const auto batch = plan.next_batch();
    EXPECT_LE(batch.size(), 64u);
    for (const auto& [id, path] : batch) ++asked[id];
    total += batch.size();
  }
  EXPECT_EQ(asked.size(), kProbes);
  EXPECT_LT(total, kProbes + 64) << "nobody is asked twice before all were asked once";
}

TEST(HeartbeatPlan, TurnsGoOnWhenProbesComeAndGo) {
  HeartbeatPlan plan;
  const auto first = plan.add("/a", NodeRole::waits, 0, nullptr);
  plan.next_batch();
  plan.remove(first);
  plan.add("/b", NodeRole::waits, 0, nullptr);
  const auto batch = plan.next_batch();
  ASSERT_EQ(batch.size(), 1u);
  EXPECT_EQ(batch.front().second, "/b");
}

TEST(HeartbeatPlan, ProbeIsTakenOnceAndNotAfterItWasRemoved) {
  HeartbeatPlan plan;
  int gone = 0;
  const auto taken = plan.add("/a", NodeRole::waits, 0, [&] { ++gone; });
  const auto removed = plan.add("/b", NodeRole::waits, 0, [&] { gone += 10; });
  plan.remove(removed);
  EXPECT_FALSE(plan.take(removed));
  const auto callback = plan.take(taken);
  ASSERT_TRUE(callback);
  callback();
  EXPECT_FALSE(plan.take(taken));
  EXPECT_EQ(gone, 1);
  EXPECT_EQ(plan.size(), 0u);
}

TEST(HeartbeatPlan, NodeOfTheSameNameIsToldApartByItsCzxidWhereThatIsKnown) {
  HeartbeatPlan plan;
  const auto shared_name = plan.add("/owner", NodeRole::waits, 7, nullptr);
  const auto own_name = plan.add("/mine", NodeRole::waits, 0, nullptr);
  EXPECT_TRUE(plan.is_same(shared_name, 7));
  EXPECT_FALSE(plan.is_same(shared_name, 8));
  EXPECT_TRUE(plan.is_same(own_name, 8));
  plan.remove(shared_name);
  EXPECT_TRUE(plan.is_same(shared_name, 8)) << "nobody asks any more";
}

TEST(HeartbeatPlan, HeldNodesTakeTurnsAsTheTargetAndWaitersAreNone) {
  HeartbeatPlan plan;
  EXPECT_FALSE(plan.next_target());
  plan.add("/waits", NodeRole::waits, 0, nullptr);
  EXPECT_FALSE(plan.next_target());
  EXPECT_EQ(plan.holds(), 0u);
  const auto first = plan.add("/a", NodeRole::holds, 0, nullptr);
  plan.add("/b", NodeRole::holds, 7, nullptr);
  EXPECT_EQ(plan.holds(), 2u);
  EXPECT_EQ(plan.next_target()->path, "/a");
  EXPECT_FALSE(plan.next_target()->unique_path);
  EXPECT_EQ(plan.next_target()->path, "/a");
  plan.remove(first);
  EXPECT_EQ(plan.next_target()->path, "/b");
  EXPECT_EQ(plan.next_target()->path, "/b");
  EXPECT_TRUE(plan.take(first) == nullptr);
}

TEST(HeartbeatPlan, NodeThatWasWrittenToIsNotAskedAfterInTheSameHeartbeat) {
  HeartbeatPlan plan;
  const auto target = plan.add("/a", NodeRole::holds, 0, nullptr);
  plan.add("/b", NodeRole::waits, 0, nullptr);
  const auto batch = plan.next_batch(target);
  ASSERT_EQ(batch.size(), 1u);
  EXPECT_EQ(batch.front().second, "/b");
}

TEST(HeartbeatPlan, ClearForgetsAll) {
  HeartbeatPlan plan;
  const auto id = plan.add("/a", NodeRole::waits, 0, [] {});
  plan.clear();
  EXPECT_FALSE(plan.take(id));
  EXPECT_TRUE(plan.next_batch().empty());
}

}  // namespace
}  // namespace zkrecipes::detail
