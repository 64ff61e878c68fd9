// SPDX-License-Identifier: Apache-2.0
// The promises of every lock, of each recipe: holding, waiting, giving up.
#include "tests/recipes/lock_types.h"
#include "tests/recipes/recipe_test.h"

namespace zkrecipes::testing {
namespace {

template <class Lock>
class LockContractTest : public RecipeTest {};

TYPED_TEST_SUITE(LockContractTest, LockTypes, LockTypeNames);

TYPED_TEST(LockContractTest, AHold_ExcludesOthersUntilItIsReleased) {
  TypeParam lock(this->connect(), this->kPath);
  TypeParam other(this->connect(), this->kPath);
  Hold hold = lock.acquire();
  EXPECT_TRUE(hold);
  EXPECT_TRUE(hold.is_valid());
  EXPECT_GT(hold.valid_until(), Clock::now());
  this->expect_token_is_that_of_the_node(hold);
  EXPECT_FALSE(other.try_acquire());
  hold.release();
  EXPECT_FALSE(hold);
  EXPECT_FALSE(hold.is_valid());
  auto next = other.try_acquire();
  ASSERT_TRUE(next);
  EXPECT_GT(next->token(), hold.token());
}

TYPED_TEST(LockContractTest, AHoldThatGoesOutOfScope_FreesTheNextWaiter) {
  Connection& waiting = this->connect();
  TypeParam lock(this->connect(), this->kPath);
  TypeParam other(waiting, this->kPath);
  PendingHold pending;
  {
    const Hold hold = lock.acquire();
    pending = other.acquire_async();
    ASSERT_TRUE(this->wait_for_waiters(waiting, 1));
    EXPECT_FALSE(pending.ready());
  }
  EXPECT_TRUE(this->get(pending).is_valid());
}

TYPED_TEST(LockContractTest, TheCost_TellsWhatTheHoldCost) {
  Connection& holding = this->connect();
  Connection& waiting = this->connect();
  TypeParam lock(holding, this->kPath);
  TypeParam other(waiting, this->kPath);
  lock.acquire().release();  // the parents are there
  Hold hold = lock.acquire();
  EXPECT_EQ(hold.cost().queue_position, 0);
  EXPECT_EQ(hold.cost().wakeups, 0);
  EXPECT_GT(hold.cost().requests, 0);
  EXPECT_GT(hold.cost().waited.count(), 0);
  ASSERT_TRUE(this->wait_for_waiters(holding, 0));  // a contender with a permit leaves the line a moment later
  PendingHold pending = other.acquire_async();
  ASSERT_TRUE(this->wait_for_waiters(waiting, 1));
  hold.release();
  const Hold next = this->get(pending);
  EXPECT_EQ(next.cost().wakeups, 1);
  EXPECT_GT(next.cost().requests, hold.cost().requests);
}

TYPED_TEST(LockContractTest, Waiters_AreServedInTheOrderOfTheirCreation) {
  if (!TypeParam::kFair) GTEST_SKIP() << "not fair by design";
  constexpr std::size_t kWaiters = 20;
  Connection& first = this->connect();
  Connection& second = this->connect();
  TypeParam here(first, this->kPath);
  TypeParam there(second, this->kPath);
  Hold hold = here.acquire();
  std::vector<PendingHold> waiters;
  std::size_t queued[2] = {0, 0};
  for (std::size_t i = 0; i < kWaiters; ++i) {
    waiters.push_back(i % 3 == 0 ? here.acquire_async() : there.acquire_async());
    ++queued[i % 3 == 0 ? 0 : 1];
    ASSERT_TRUE(this->wait_for_waiters(first, queued[0]));
    ASSERT_TRUE(this->wait_for_waiters(second, queued[1]));
  }
  FencingToken last = hold.token();
  hold.release();
  for (std::size_t i = 0; i < kWaiters; ++i) {
    Hold next = this->get(waiters[i]);
    EXPECT_GT(next.token(), last);
    last = next.token();
    for (std::size_t later = i + 1; later < kWaiters; ++later) EXPECT_FALSE(waiters[later].ready());
    next.release();
  }
}

TYPED_TEST(LockContractTest, TakenTwiceByOneThread_TimesOutAndLeavesTheFirstHoldAlone) {
  TypeParam lock(this->connect(), this->kPath);
  const Hold hold = lock.acquire();
  EXPECT_FALSE(lock.try_acquire());
  EXPECT_FALSE(lock.try_acquire_for(200ms));
  EXPECT_TRUE(hold.is_valid());
  this->expect_token_is_that_of_the_node(hold);
  EXPECT_TRUE(this->wait_for_nodes(this->kPath, 1));
}

TYPED_TEST(LockContractTest, TryAcquireOfABusyLock_CreatesNoNode) {
  TypeParam lock(this->connect(), this->kPath);
  TypeParam other(this->connect_by_proxy(), this->kPath);
  const Hold hold = lock.acquire();
  this->proxy().reset_counts();
  EXPECT_FALSE(other.try_acquire());
  EXPECT_EQ(this->proxy().counts().of(RequestKind::create), 0);
}

TYPED_TEST(LockContractTest, AnExpiredDeadline_IsATry) {
  TypeParam lock(this->connect(), this->kPath);
  EXPECT_TRUE(lock.try_acquire_until(Clock::now() - 1s));
  EXPECT_TRUE(this->wait_for_nodes(this->kPath, 0));
  const Hold hold = lock.acquire();
  EXPECT_FALSE(lock.try_acquire_until(Clock::time_point::min()));
  EXPECT_FALSE(lock.try_acquire_for(0s));
}

TYPED_TEST(LockContractTest, AHugeTimeout_IsFine) {
  TypeParam lock(this->connect(), this->kPath);
  EXPECT_TRUE(lock.try_acquire_for(std::chrono::hours::max()));
  EXPECT_TRUE(lock.try_acquire_until(Clock::time_point::max() - 1s));
  EXPECT_TRUE(lock.try_acquire_until(Clock::time_point::max()));
}

TYPED_TEST(LockContractTest, ACancelledPredecessor_LeavesAtOnceAndItsFollowerGoesOnWaiting) {
  Connection& quitter = this->connect();
  Connection& stayer = this->connect();
  TypeParam lock(this->connect(), this->kPath);
  TypeParam second(quitter, this->kPath);
  TypeParam third(stayer, this->kPath);
  Hold hold = lock.acquire();
  PendingHold gives_up = second.acquire_async();
  ASSERT_TRUE(this->wait_for_waiters(quitter, 1));
  PendingHold stays = third.acquire_async();
  ASSERT_TRUE(this->wait_for_waiters(stayer, 1));
  const std::size_t nodes = this->nodes_at(this->kPath).size();

  gives_up.cancel();
  EXPECT_TRUE(gives_up.ready());
  EXPECT_THROW(static_cast<void>(gives_up.get()), Cancelled);
  // A simple lock's waiters have no nodes. Of a semaphore the follower becomes the head and makes its lease.
  const bool is_simple = std::string(TypeParam::kName) == "SimpleLock";
  if (!is_simple && TypeParam::kLookNth == 1) {
    EXPECT_TRUE(this->wait_for_nodes(this->kPath, nodes - 1));
  }
  EXPECT_TRUE(this->wait_for_waiters(quitter, 0));
  EXPECT_TRUE(this->wait_for_waiters(stayer, 1));
  EXPECT_FALSE(stays.ready());
  EXPECT_TRUE(hold.is_valid());

  hold.release();
  EXPECT_TRUE(this->get(stays).is_valid());
}

TYPED_TEST(LockContractTest, ADestroyedPendingHold_LeavesTheQueue) {
  Connection& waiting = this->connect();
  TypeParam lock(waiting, this->kPath);
  const Hold hold = lock.acquire();
  const std::size_t nodes = this->nodes_of_holders(waiting, this->kPath);
  {
    const PendingHold pending = lock.acquire_async();
    ASSERT_TRUE(this->wait_for_waiters(waiting, 1));
  }
  EXPECT_TRUE(this->wait_for_nodes(this->kPath, nodes));
  EXPECT_TRUE(this->wait_for_waiters(waiting, 0));
  EXPECT_TRUE(hold.is_valid());
}

TYPED_TEST(LockContractTest, APendingHoldDestroyedAtOnce_LeavesNothing) {
  TypeParam lock(this->connect(), this->kPath);
  for (int i = 0; i < 50; ++i) static_cast<void>(lock.acquire_async());
  const auto hold = lock.try_acquire_for(kLimit);
  EXPECT_TRUE(hold);
}

TYPED_TEST(LockContractTest, ATimeOut_LeavesTheQueue) {
  Connection& waiting = this->connect();
  TypeParam lock(waiting, this->kPath);
  const Hold hold = lock.acquire();
  const auto before = Clock::now();
  EXPECT_FALSE(lock.try_acquire_for(100ms));
  EXPECT_GE(Clock::now() - before, 100ms);
  EXPECT_TRUE(this->wait_for_nodes(this->kPath, 1));
}

TYPED_TEST(LockContractTest, AHolderThatVanishesBetweenLookingAndWatching_IsNotWaitedFor) {
  TypeParam lock(this->connect(), this->kPath);
  TypeParam other(this->connect_by_proxy(), this->kPath);
  Hold hold = lock.acquire();
  this->proxy().hold_reply(TypeParam::kLookKind, TypeParam::kLookNth);
  this->proxy().reset_counts();
  PendingHold pending = other.acquire_async();
  ASSERT_TRUE(this->proxy().wait_until_fired(kLimit));
  hold.release();
  this->proxy().release_held();
  EXPECT_TRUE(this->get(pending).is_valid());
  EXPECT_LE(this->proxy().counts().operations(), 12) << "no busy loop";
}

TYPED_TEST(LockContractTest, AHolderThatVanishesWhileTheWatchIsBeingSet_IsNotWaitedFor) {
  TypeParam lock(this->connect(), this->kPath);
  TypeParam other(this->connect_by_proxy(), this->kPath);
  Hold hold = lock.acquire();
  const bool watches_children = TypeParam::kLookNth > 1;
  this->proxy().hold_reply(watches_children ? RequestKind::get_children : RequestKind::get_data,
                           watches_children ? 3 : 1);
  PendingHold pending = other.acquire_async();
  ASSERT_TRUE(this->proxy().wait_until_fired(kLimit));
  hold.release();
  this->proxy().release_held();
  EXPECT_TRUE(this->get(pending).is_valid());
}

TYPED_TEST(LockContractTest, AMissingParent_IsMadeAgain) {
  TypeParam lock(this->connect(), "/a/deep/path/lock");
  for (int i = 0; i < 3; ++i) {
    Hold hold = lock.acquire();
    EXPECT_TRUE(hold.is_valid());
    this->expect_token_is_that_of_the_node(hold);
    hold.release();
    this->plain().remove_all(this->full("/a"));
  }
}

TYPED_TEST(LockContractTest, AMissingParent_IsMadeOnceByManyAtATime) {
  Connection& first = this->connect();
  Connection& second = this->connect();
  CriticalSection section;
  Crowd crowd(8, [&](int i) {
    TypeParam lock(i % 2 == 0 ? first : second, "/a/deep/path/lock");
    Hold hold = lock.acquire();
    section.enter();
    section.leave();
  });
  crowd.join();
  EXPECT_EQ(section.entries(), 8);
  EXPECT_EQ(section.overlaps(), 0);
}

TYPED_TEST(LockContractTest, AForeignChild_IsTolerated) {
  if (std::string(TypeParam::kName) == "SimpleLock") GTEST_SKIP() << "its node cannot have children";
  this->create_node(std::string(this->kPath) + "/config", "not a lock");
  Connection& waiting = this->connect();
  TypeParam lock(waiting, this->kPath);
  Hold hold = lock.acquire();
  EXPECT_TRUE(hold.is_valid());
  PendingHold pending = lock.acquire_async();
  ASSERT_TRUE(this->wait_for_waiters(waiting, 1));
  hold.release();
  EXPECT_TRUE(this->get(pending).is_valid());
}

}  // namespace
}  // namespace zkrecipes::testing
