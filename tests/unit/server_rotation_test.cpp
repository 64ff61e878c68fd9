// SPDX-License-Identifier: Apache-2.0
#include "connection/server_rotation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "connection/system_world.h"

namespace zkrecipes::detail {
namespace {

using namespace std::chrono_literals;
using ::testing::UnorderedElementsAre;

class ServerRotationTest : public ::testing::Test {
 protected:
  std::set<std::string> next(std::size_t count) {
    std::set<std::string> tried;
    for (std::size_t n = 0; n < count; ++n) tried.insert(rotation_.next());
    return tried;
  }
  ServerRotation rotation_{RetryPolicy{}, *system_world()};
};

TEST_F(ServerRotationTest, EveryServerIsTriedBeforeOneIsTriedAgain) {
  for (const std::size_t count : {1, 2, 3, 4, 5}) {
    std::vector<std::string> addresses;
    for (std::size_t n = 0; n < count; ++n) addresses.push_back(std::to_string(n));
    ServerRotation rotation{RetryPolicy{}, *system_world()};
    rotation.replace(addresses);
    for (int round = 0; round < 3; ++round) {
      std::set<std::string> tried;
      for (std::size_t n = 0; n < count; ++n) tried.insert(rotation.next());
      EXPECT_EQ(tried.size(), count);
    }
  }
}

TEST_F(ServerRotationTest, NoServerIsTriedTwiceInARowAlsoWhenTheListChanges) {
  rotation_.replace({"a", "b"});
  for (int n = 0; n < 200; ++n) {
    const std::string last = rotation_.next();
    if (n % 3 == 0)
      rotation_.replace(n % 2 == 0 ? std::vector<std::string>{"a", "b", "c"} : std::vector<std::string>{"b", "a"});
    EXPECT_NE(rotation_.next(), last);
  }
}

TEST_F(ServerRotationTest, NothingPausesUntilAllServersHaveFailed) {
  rotation_.replace({"a", "b", "c"});
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(rotation_.failed(1min), 0ms);
    EXPECT_EQ(rotation_.failed(1min), 0ms);
    EXPECT_GT(rotation_.failed(1min), 0ms);
  }
}

TEST_F(ServerRotationTest, PausesGrowAsTheRetryPolicySaysButASessionDoesNotWaitForThat) {
  RetryPolicy policy;
  policy.jitter = 0;
  ServerRotation rotation{policy, *system_world()};
  rotation.replace({"a"});
  EXPECT_EQ(rotation.failed(1min), 50ms);
  EXPECT_EQ(rotation.failed(1min), 100ms);
  EXPECT_EQ(rotation.failed(1min), 200ms);
  EXPECT_EQ(rotation.failed(120ms), 120ms);
  rotation.accepted();
  EXPECT_EQ(rotation.failed(1min), 50ms);
}

TEST_F(ServerRotationTest, AFleetThatHasLostItsSessionsDoesNotComeBackInStep) {
  std::set<std::chrono::milliseconds> pauses;
  for (int n = 0; n < 50; ++n) pauses.insert(ServerRotation(RetryPolicy{}, *system_world()).session_lost());
  EXPECT_GT(pauses.size(), 5u);
  EXPECT_GT(*pauses.begin(), 0ms);
}

TEST_F(ServerRotationTest, NewServersAreTriedFirst) {
  rotation_.replace({"a", "b"});
  rotation_.next();
  rotation_.replace({"a", "b", "c", "d"});
  EXPECT_THAT(next(2), UnorderedElementsAre("c", "d"));
  EXPECT_THAT(next(2), UnorderedElementsAre("a", "b"));
}

TEST_F(ServerRotationTest, ServersThatAreGoneAreNotTriedAnyMore) {
  rotation_.replace({"a", "b", "c"});
  rotation_.next();
  rotation_.replace({"b"});
  EXPECT_THAT(next(5), UnorderedElementsAre("b"));
  EXPECT_EQ(rotation_.size(), 1u);
}

TEST_F(ServerRotationTest, AnotherListBeginsWithoutTheFailuresOfTheOneBefore) {
  RetryPolicy policy;
  policy.jitter = 0;
  ServerRotation rotation{policy, *system_world()};
  rotation.replace({"a"});
  for (int n = 0; n < 5; ++n) rotation.failed(1min);
  rotation.restart({"b"});
  EXPECT_TRUE(rotation.contains("b"));
  EXPECT_FALSE(rotation.contains("a"));
  EXPECT_EQ(rotation.patience(6s), 1s);
  EXPECT_EQ(rotation.failed(1min), 50ms);
}

TEST_F(ServerRotationTest, AnotherServerIsOneWithAnotherAddress) {
  EXPECT_FALSE(rotation_.has_other_than("a"));
  rotation_.replace({"a"});
  EXPECT_FALSE(rotation_.has_other_than("a"));
  EXPECT_TRUE(rotation_.has_other_than("b")) << "b is no longer in the list";
  rotation_.replace({"a", "b"});
  EXPECT_TRUE(rotation_.has_other_than("a"));
}

TEST_F(ServerRotationTest, WithoutAnyServerThereIsAPauseAfterEveryFailure) {
  for (int n = 0; n < 3; ++n) EXPECT_GT(rotation_.failed(1min), 0ms);
}

TEST_F(ServerRotationTest, AddedServersDoNotReplaceTheKnownOnes) {
  rotation_.replace({"a", "b"});
  rotation_.add({"c", "a"});
  EXPECT_THAT(next(3), UnorderedElementsAre("a", "b", "c"));
}

TEST_F(ServerRotationTest, PatienceWithASilentServerIsShortAtFirstAndGrowsWithEveryRound) {
  rotation_.replace({"a", "b"});
  EXPECT_EQ(rotation_.patience(6s), 1s);
  rotation_.failed(1s);
  EXPECT_EQ(rotation_.patience(6s), 1s);
  rotation_.failed(1s);
  EXPECT_EQ(rotation_.patience(6s), 2s);
  for (int n = 0; n < 20; ++n) rotation_.failed(1s);
  EXPECT_EQ(rotation_.patience(6s), 4s);
  EXPECT_EQ(rotation_.patience(400ms), 500ms) << "a loaded machine needs that long";
}

}  // namespace
}  // namespace zkrecipes::detail
