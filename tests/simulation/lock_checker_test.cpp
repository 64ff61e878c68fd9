// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/lock_checker.h"

#include <chrono>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace zkrecipes::simulation {
namespace {

using std::chrono::seconds;

/// A holder that believes what the test says.
struct FakeHolder : Believer {
  explicit FakeHolder(std::string its_node) : name(std::move(its_node)) {}
  bool believes() const override { return valid; }
  const std::string& node() const override { return name; }
  std::vector<std::string> nodes() const override {
    std::vector<std::string> all = more;
    all.push_back(name);
    return all;
  }

  std::string name;
  std::vector<std::string> more;
  bool valid = true;
};

class LockCheckerTest : public ::testing::Test {
 protected:
  LockChecker::HoldId take(const FakeHolder& holder, LockKind kind, std::int64_t token, int process = 1) {
    return checker.taken(path, {process, kind, {token, 0}, &holder});
  }
  LockChecker::HoldId take_permits(const FakeHolder& holder, int permits, std::int64_t token) {
    return checker.taken(path, {1, LockKind::semaphore, {token, 0}, &holder, false, permits});
  }
  bool violated() const { return checker.violation().has_value(); }
  bool violation_mentions(const std::string& text) const {
    return violated() && checker.violation()->what.find(text) != std::string::npos;
  }

  Scheduler scheduler{1};
  LockChecker checker{scheduler};
  LockChecker::PathId path = checker.add_path("/lock", 2);
  FakeHolder first{"/lock/a"};
  FakeHolder second{"/lock/b"};
  FakeHolder third{"/lock/c"};
};

TEST_F(LockCheckerTest, TwoValidHolds_AreAViolation) {
  take(first, LockKind::fair, 1, 1);
  take(second, LockKind::fair, 2, 2);
  ASSERT_TRUE(violation_mentions("two valid holds"));
  EXPECT_EQ(checker.violation()->processes, (std::vector<int>{1, 2}));
  EXPECT_EQ(checker.violation()->path, "/lock");
}

TEST_F(LockCheckerTest, HoldThatIsNoLongerValid_DoesNotExclude) {
  take(first, LockKind::fair, 1);
  first.valid = false;
  take(second, LockKind::fair, 2);
  EXPECT_FALSE(violated());
}

TEST_F(LockCheckerTest, ReleasedHold_DoesNotExclude) {
  const auto hold = take(first, LockKind::fair, 1);
  checker.released(path, hold);
  take(second, LockKind::fair, 2);
  EXPECT_FALSE(violated());
}

TEST_F(LockCheckerTest, HoldOfADeadProcess_DoesNotExclude) {
  take(first, LockKind::fair, 1, 7);
  checker.process_died(7);
  take(second, LockKind::fair, 2, 8);
  EXPECT_FALSE(violated());
}

TEST_F(LockCheckerTest, Readers_ShareAndExcludeWriters) {
  take(first, LockKind::read, 1);
  take(second, LockKind::read, 2);
  EXPECT_FALSE(violated());
  take(third, LockKind::write, 3);
  EXPECT_TRUE(violation_mentions("two valid holds"));
}

TEST_F(LockCheckerTest, DowngradedHold_StandsBesideItsOwnWriter) {
  take(first, LockKind::write, 5);
  checker.taken(path, {1, LockKind::read, {5, 0}, &second, true});
  EXPECT_FALSE(violated());
}

TEST_F(LockCheckerTest, Permits_AreCounted) {
  take(first, LockKind::semaphore, 2);
  take(second, LockKind::semaphore, 1);
  EXPECT_FALSE(violated());
  take(third, LockKind::semaphore, 3);
  EXPECT_TRUE(violation_mentions("3 permits of 2"));
}

TEST_F(LockCheckerTest, TokenThatDoesNotGrow_IsAViolation) {
  checker.released(path, take(first, LockKind::fair, 5));
  take(second, LockKind::fair, 4);
  EXPECT_TRUE(violation_mentions("tokens do not grow"));
}

TEST_F(LockCheckerTest, TokensOfReaders_ComeInAnyOrderBetweenWriters) {
  checker.released(path, take(first, LockKind::write, 1));
  const auto reader = take(first, LockKind::read, 3);
  checker.released(path, take(second, LockKind::read, 2));
  checker.released(path, reader);
  EXPECT_FALSE(violated());
  take(third, LockKind::write, 2);
  EXPECT_TRUE(violation_mentions("tokens do not grow"));
}

TEST_F(LockCheckerTest, HoldThatIsInvalidWhenTaken_DoesNotCount) {
  checker.released(path, take(first, LockKind::fair, 5));
  second.valid = false;
  take(second, LockKind::fair, 4);
  EXPECT_FALSE(violated());
  EXPECT_EQ(checker.grants(), 1U);
}

TEST_F(LockCheckerTest, NodeDeletedByHand_ExcusesItsOwnerForAWhileOnly) {
  take(first, LockKind::fair, 1);
  checker.node_deleted(path, "/lock/a", seconds(5));
  checker.released(path, take(second, LockKind::fair, 2));
  EXPECT_FALSE(violated());
  scheduler.run_until(seconds(6));
  take(third, LockKind::fair, 3);
  EXPECT_TRUE(violation_mentions("two valid holds"));
}

TEST_F(LockCheckerTest, SimpleLockNodeDeletedByHand_ExcusesForAWhileOnly) {
  FakeHolder one("/lock");
  FakeHolder next("/lock");
  checker.node_deleted(path, "/lock", seconds(5));
  take(one, LockKind::simple, 2);
  take(next, LockKind::simple, 3);
  EXPECT_FALSE(violated());
  one.valid = next.valid = false;
  scheduler.run_until(seconds(6));
  FakeHolder later("/lock");
  FakeHolder latest("/lock");
  take(later, LockKind::simple, 4);
  take(latest, LockKind::simple, 5);
  EXPECT_TRUE(violation_mentions("two valid holds"));
}

TEST_F(LockCheckerTest, OverlapsAllowed_TokensStillGrow) {
  checker.allow_overlaps();
  take(first, LockKind::fair, 2);
  take(second, LockKind::fair, 3);
  EXPECT_FALSE(violated());
  take(third, LockKind::fair, 1);
  EXPECT_TRUE(violation_mentions("tokens do not grow"));
}

TEST_F(LockCheckerTest, FirstViolation_IsKept) {
  checker.report("first", 1);
  checker.report("second", 2);
  EXPECT_EQ(checker.violation()->what, "first");
}

TEST_F(LockCheckerTest, PermitsOfAllHolds_AreAddedUp) {
  take(first, LockKind::semaphore, 1);
  take_permits(second, 2, 2);
  EXPECT_TRUE(violation_mentions("3 permits of 2"));
}

TEST_F(LockCheckerTest, ADeletedNodeAmongSeveral_ExcusesTheWholeHold) {
  first.more = {"/lock/a2"};
  take_permits(first, 2, 1);
  checker.node_deleted(path, "/lock/a2", seconds(1));
  take_permits(second, 2, 2);
  EXPECT_FALSE(violated());
}

TEST_F(LockCheckerTest, TokensOfHoldsWithAllPermits_Grow) {
  const auto hold = take(first, LockKind::semaphore, 5);
  checker.released(path, hold);
  take_permits(second, 2, 4);
  EXPECT_TRUE(violation_mentions("tokens do not grow"));
}

TEST_F(LockCheckerTest, TokensOfPermitsThatAreHeldTogether_NeedNotGrow) {
  take(first, LockKind::semaphore, 5);
  take(second, LockKind::semaphore, 4);
  EXPECT_FALSE(violated());
}

}  // namespace
}  // namespace zkrecipes::simulation
