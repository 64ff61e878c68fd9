// SPDX-License-Identifier: Apache-2.0
// Several permits as one hold, and another number of permits.
#include <algorithm>
#include <mutex>
#include <random>
#include <stdexcept>
#include <type_traits>

#include "tests/recipes/recipe_test.h"
#include "zkrecipes/semaphore.h"

namespace zkrecipes::testing {
namespace {

using ::testing::Contains;

// A number of permits is not taken for a time, nor the other way round.
constexpr auto kTryFor = [](Semaphore& semaphore, auto... args) -> decltype(semaphore.try_acquire_for(args...)) {
  return semaphore.try_acquire_for(args...);
};
static_assert(std::is_invocable_v<decltype(kTryFor), Semaphore&, std::chrono::seconds>);
static_assert(std::is_invocable_v<decltype(kTryFor), Semaphore&, int, std::chrono::seconds, StopToken>);
static_assert(!std::is_invocable_v<decltype(kTryFor), Semaphore&, int>);
static_assert(!std::is_invocable_v<decltype(kTryFor), Semaphore&, std::chrono::seconds, int>);

class SemaphorePermitsTest : public ControlledRecipeTest {
 protected:
  const std::string kLeases = std::string(kPath) + "/leases";
  const std::string kLocks = std::string(kPath) + "/locks";

  bool wait_for_leases(std::size_t number) { return wait_for_children(kLeases, number); }
  /// The full paths of all leases, except those given.
  std::vector<std::string> leases_without(const std::vector<std::string>& known) {
    std::vector<std::string> leases;
    for (const std::string& name : children(kLeases)) {
      const std::string path = kLeases + "/" + name;
      if (std::find(known.begin(), known.end(), path) == known.end()) leases.push_back(path);
    }
    return leases;
  }
};

TEST_F(SemaphorePermitsTest, SeveralPermits_AreOneHold) {
  Semaphore here(connect(), kPath, 3), there(connect(), kPath, 3);
  here.acquire().release();  // makes the parents
  Hold two = here.acquire(2);
  EXPECT_TRUE(wait_for_leases(2));
  EXPECT_THAT(leases_without({}), Contains(two.node()));
  expect_token_is_that_of_the_node(two);
  EXPECT_EQ(two.cost().requests, 5) << "node and listing in line, two leases and their listing";
  EXPECT_FALSE(there.try_acquire(2));
  {
    const auto one = there.try_acquire();
    EXPECT_TRUE(one);
    EXPECT_FALSE(here.try_acquire());
  }
  EXPECT_TRUE(wait_for_leases(2));
  two.release();
  EXPECT_TRUE(leases_without({}).empty()) << "release() waits for the last of them";
  const Hold all = there.acquire(3);
  EXPECT_GT(all.token(), two.token());
}

TEST_F(SemaphorePermitsTest, ADestroyedHold_GivesAllItsPermitsBack) {
  Semaphore semaphore(connect(), kPath, 3);
  { const Hold hold = semaphore.acquire(3); }
  EXPECT_TRUE(wait_for_nodes(kPath, 0));
}

TEST_F(SemaphorePermitsTest, ANumberThatCannotBeServed_IsRefusedAtOnce) {
  Semaphore semaphore(connect(), kPath, 2);
  for (const int wrong : {-1, 0, 3}) {
    SCOPED_TRACE(wrong);
    EXPECT_THROW((void)semaphore.acquire(wrong), std::invalid_argument);
    EXPECT_THROW((void)semaphore.try_acquire(wrong), std::invalid_argument);
    EXPECT_THROW((void)semaphore.try_acquire_for(wrong, 1s), std::invalid_argument);
    EXPECT_THROW((void)semaphore.try_acquire_until(wrong, Clock::now() + 1s), std::invalid_argument);
    EXPECT_THROW((void)semaphore.acquire_async(wrong), std::invalid_argument);
  }
  EXPECT_THROW(semaphore.set_permits(0), std::invalid_argument);
  EXPECT_EQ(semaphore.permits(), 2);
  EXPECT_TRUE(nodes_at(kPath).empty());
}

TEST_F(SemaphorePermitsTest, TheHead_KeepsItsPlaceUntilItHasAll) {
  Connection& first = connect();
  Connection& second = connect();
  Semaphore holder(connect(), kPath, 2), many(first, kPath, 2), one(second, kPath, 2);
  Hold held = holder.acquire();
  PendingHold head = many.acquire_async(2);
  ASSERT_TRUE(wait_for_waiters(first, 1));
  ASSERT_TRUE(wait_for_leases(3));
  PendingHold behind = one.acquire_async();
  ASSERT_TRUE(wait_for_waiters(second, 1));
  EXPECT_FALSE(one.try_acquire()) << "one permit is free, but the head waits for it";
  held.release();
  Hold both = get(head);
  EXPECT_TRUE(both.is_valid());
  EXPECT_FALSE(behind.ready());
  both.release();
  EXPECT_TRUE(get(behind).is_valid());
}

TEST_F(SemaphorePermitsTest, ALeaseDeletedFromOutside_LosesTheWholeHold) {
  Semaphore semaphore(connect(options(6s)), kPath, 3);
  const Hold other = semaphore.acquire();
  Hold hold = semaphore.acquire(2);
  CallCount lost;
  const Subscription subscription = hold.on_lost(lost.handler());
  const auto second = leases_without({other.node(), hold.node()});
  ASSERT_EQ(second.size(), 1U);
  remove_node(second.front());
  ASSERT_TRUE(lost.wait());
  EXPECT_FALSE(hold.is_valid());
  EXPECT_TRUE(other.is_valid());
  EXPECT_EQ(error_of([&] { hold.release(); }), make_error_code(ErrorCode::session_lost));
  EXPECT_TRUE(wait_for_leases(1)) << "the lease that was left is given back with the hold";
  EXPECT_EQ(lost.count(), 1);
}

TEST_F(SemaphorePermitsTest, AnExpiredSession_LosesTheHoldOnceAndFreesAllPermits) {
  Connection& expiring = connect();
  Semaphore leaver(expiring, kPath, 3), stayer(connect(), kPath, 3);
  const Hold hold = leaver.acquire(3);
  CallCount lost;
  const Subscription subscription = hold.on_lost(lost.handler());
  expire_session(expiring);
  EXPECT_TRUE(stayer.try_acquire_for(3, kLimit));
  ASSERT_TRUE(lost.wait());
  EXPECT_EQ(lost.count(), 1);
}

TEST_F(SemaphorePermitsTest, ARevocationOfAnyLease_IsAskedOfTheHold) {
  std::mutex mutex;
  std::vector<std::string> asked;
  LockOptions revocable;
  revocable.on_revoke = [&](const std::string& node) {
    const std::lock_guard<std::mutex> lock(mutex);
    asked.push_back(node);
  };
  Connection& connection = connect();
  Semaphore semaphore(connection, kPath, 2, revocable);
  Hold hold = semaphore.acquire(2);
  ASSERT_TRUE(wait_for_waiters(connection, 2)) << "one watch for each lease";
  const auto second = leases_without({hold.node()});
  ASSERT_EQ(second.size(), 1U);
  request_revoke(connect(), second.front());
  EXPECT_TRUE(wait_for([&] {
    const std::lock_guard<std::mutex> lock(mutex);
    return asked == std::vector<std::string>{hold.node()};
  }));
  hold.release();
  EXPECT_TRUE(wait_for_waiters(connection, 0));
}

TEST_F(SemaphorePermitsTest, ALeaseDeletedWhileTheHeadWaits_IsMadeAgainAndNoneIsLeft) {
  Connection& waiting = connect();
  Semaphore semaphore(connect(), kPath, 2), other(waiting, kPath, 2);
  Hold hold = semaphore.acquire();
  PendingHold pending = other.acquire_async(2);
  ASSERT_TRUE(wait_for_leases(3));
  ASSERT_TRUE(wait_for_waiters(waiting, 1));
  const auto before = leases_without({hold.node()});
  remove_node(before.front());
  ASSERT_TRUE(wait_for([&] {
    const auto now = leases_without({hold.node()});
    return now.size() == 2 && now != before && std::find(now.begin(), now.end(), before.back()) == now.end();
  })) << "both are new";
  hold.release();
  EXPECT_TRUE(get(pending).is_valid());
  pending = {};
  EXPECT_TRUE(wait_for_nodes(kPath, 0));
}

TEST_F(SemaphorePermitsTest, LeavingTheHeadOfTheLine_LeavesNoLease) {
  Connection& waiting = connect();
  Semaphore semaphore(connect(), kPath, 3), other(waiting, kPath, 3);
  const Hold hold = semaphore.acquire();
  EXPECT_FALSE(other.try_acquire_for(3, 100ms));
  EXPECT_TRUE(wait_for_nodes(kPath, 1));
  PendingHold pending = other.acquire_async(3);
  ASSERT_TRUE(wait_for_leases(4));
  pending.cancel();
  EXPECT_TRUE(wait_for_nodes(kPath, 1));
}

TEST_F(SemaphorePermitsTest, AStopOrADeadlineAtTheHeadOfTheLine_LeavesNoLease) {
  Semaphore semaphore(connect(), kPath, 3), other(connect(), kPath, 3);
  const Hold hold = semaphore.acquire();
  StopSource stop;
  Background stopped([&] { EXPECT_EQ(other.acquire(3, stop.token()).status(), AcquireStatus::stopped); });
  ASSERT_TRUE(wait_for_leases(4));
  stop.request_stop();
  stopped.join();
  EXPECT_TRUE(wait_for_nodes(kPath, 1));
  AcquireOptions soon;
  soon.deadline = Clock::now() + 50ms;
  PendingHold pending = other.acquire_async(3, soon);
  ASSERT_TRUE(wait_until_ready(pending));
  EXPECT_EQ(error_of([&] { pending.get(); }), make_error_code(ErrorCode::timed_out));
  EXPECT_TRUE(wait_for_nodes(kPath, 1));
}

TEST_F(SemaphorePermitsTest, AReplyLostAmongTheLeases_LeavesNoOrphan) {
  Connection& connection = connect_by_proxy();
  Semaphore semaphore(connection, kPath, 3);
  semaphore.acquire(3).release();
  // The place in line is the first create, the leases are the others.
  for (const int nth : {2, 3, 4}) {
    SCOPED_TRACE(nth);
    proxy().drop_reply(RequestKind::create, nth);
    Hold hold = semaphore.acquire(3);
    EXPECT_TRUE(proxy().wait_until_fired(kLimit));
    EXPECT_TRUE(wait_for_leases(3));
    expect_token_is_that_of_the_node(hold);
    hold.release();
    EXPECT_TRUE(wait_for_nodes(kPath, 0));
  }
}

TEST_F(SemaphorePermitsTest, ASessionThatEndsAmongTheLeases_LeavesNothing) {
  Connection& connection = connect_by_proxy();
  Semaphore semaphore(connection, kPath, 3);
  semaphore.acquire(3).release();
  proxy().hold_reply(RequestKind::create, 3);  // the second lease
  PendingHold pending = semaphore.acquire_async(3);
  ASSERT_TRUE(proxy().wait_until_fired(kLimit));
  expire_session(connection);
  proxy().clear_faults();
  lose_connection();  // with the replies that were held back
  Hold hold = get(pending);
  EXPECT_TRUE(hold.is_valid());
  EXPECT_TRUE(wait_for_leases(3)) << "those of the new session only";
  hold.release();
  EXPECT_TRUE(wait_for_nodes(kPath, 0));
}

// ---- Another number ----

TEST_F(SemaphorePermitsTest, MorePermits_GrantTheHeadAtOnceAndKeepTheOrder) {
  Connection& waiting = connect();
  Semaphore holder(connect(), kPath, 1), semaphore(waiting, kPath, 1);
  const Hold held = holder.acquire();
  PendingHold first = semaphore.acquire_async();
  ASSERT_TRUE(wait_for_leases(2));
  PendingHold second = semaphore.acquire_async();
  ASSERT_TRUE(wait_for_waiters(waiting, 2));
  const auto before = nodes_at(kPath);
  semaphore.set_permits(2);
  const Hold granted = get(first);
  EXPECT_TRUE(granted.is_valid());
  EXPECT_THAT(before, Contains(full(granted.node()))) << "it has kept its nodes";
  EXPECT_FALSE(second.ready());
  semaphore.set_permits(3);
  EXPECT_TRUE(get(second).is_valid());
  EXPECT_EQ(semaphore.permits(), 3);
  EXPECT_EQ(holder.permits(), 1) << "each object has its own number";
}

TEST_F(SemaphorePermitsTest, FewerPermits_TakeNothingAwayAndGrantNothingAboveThem) {
  Connection& waiting = connect();
  Semaphore semaphore(waiting, kPath, 3);
  Hold two = semaphore.acquire(2);
  Hold one = semaphore.acquire();
  semaphore.set_permits(1);
  EXPECT_TRUE(two.is_valid());
  EXPECT_TRUE(one.is_valid());
  EXPECT_FALSE(semaphore.try_acquire());
  PendingHold pending = semaphore.acquire_async();
  ASSERT_TRUE(wait_for_leases(4));
  two.release();
  ASSERT_TRUE(wait_for_leases(2));
  ASSERT_TRUE(wait_for_waiters(waiting, 1));
  EXPECT_FALSE(pending.ready());
  one.release();
  EXPECT_TRUE(get(pending).is_valid());
}

TEST_F(SemaphorePermitsTest, AWaiterThatWantsMoreThanAreLeft_FailsAndLeavesNothing) {
  Connection& waiting = connect();
  Semaphore holder(connect(), kPath, 3), semaphore(waiting, kPath, 3);
  const Hold held = holder.acquire(3);
  PendingHold many = semaphore.acquire_async(2);
  ASSERT_TRUE(wait_for_leases(5));
  PendingHold one = semaphore.acquire_async();
  ASSERT_TRUE(wait_for_waiters(waiting, 2));
  semaphore.set_permits(1);
  ASSERT_TRUE(wait_until_ready(many));
  EXPECT_EQ(error_of([&] { many.get(); }), make_error_code(ErrorCode::too_few_permits));
  EXPECT_TRUE(wait_for_leases(4)) << "those of the holder, and one of the next waiter";
  EXPECT_FALSE(one.ready());
}

TEST_F(SemaphorePermitsTest, AWaiterWithoutAConnection_HearsOfFewerPermits) {
  proxy().refuse(true);
  Connection& lonely = begin_connect(options_by_proxy());
  Semaphore semaphore(lonely, kPath, 2);
  PendingHold pending = semaphore.acquire_async(2);
  EXPECT_FALSE(pending.ready());
  semaphore.set_permits(1);
  ASSERT_TRUE(wait_until_ready(pending));
  EXPECT_EQ(error_of([&] { pending.get(); }), make_error_code(ErrorCode::too_few_permits));
}

TEST_F(SemaphorePermitsTest, ChangesBesideAcquires_LoseNobody) {
  constexpr int kUsers = 4;
  constexpr int kCycles = 25;
  Semaphore semaphore(connect(), kPath, 4);
  std::atomic<int> running{kUsers};
  Crowd crowd(kUsers, [&](int i) {
    std::mt19937 random(static_cast<unsigned>(i));
    for (int cycle = 0; cycle < kCycles;) {
      try {
        (void)semaphore.acquire(1 + static_cast<int>(random() % 2));
        ++cycle;
      } catch (const std::invalid_argument&) {  // one permit only, just now
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), make_error_code(ErrorCode::too_few_permits));
      }
    }
    --running;
  });
  for (int i = 0; running > 0; ++i) semaphore.set_permits(1 + i % 4);
  crowd.join();
  EXPECT_TRUE(wait_for_nodes(kPath, 0));
}

// ---- Random numbers of permits ----

TEST_F(SemaphorePermitsTest, RandomDemands_AreAllServedAndNeverExceedThePermits) {
  constexpr int kPermits = 5;
  constexpr int kClients = 6;
  constexpr int kCycles = 15;
  std::vector<Connection*> connections;
  for (int i = 0; i < kClients; ++i) connections.push_back(&begin_connect(options()));
  std::atomic<int> inside{0}, most{0};
  std::atomic<std::int64_t> newest_of_all{0};
  Crowd crowd(kClients, [&](int i) {
    std::mt19937 random(static_cast<unsigned>(i));
    Semaphore semaphore(*connections[static_cast<std::size_t>(i)], kPath, kPermits);
    for (int cycle = 0; cycle < kCycles; ++cycle) {
      // Some want all, so that two of them would block each other if they took one permit at a time.
      const int wanted = random() % 4 == 0 ? kPermits : 1 + static_cast<int>(random() % kPermits);
      const auto hold = semaphore.try_acquire_for(wanted, kLimit);
      if (!hold) {
        ADD_FAILURE() << "client " << i << " waits for " << wanted << " permits for ever";
        return;
      }
      const int now = inside += wanted;
      int seen = most;
      while (now > seen && !most.compare_exchange_weak(seen, now)) {
      }
      if (wanted == kPermits) {
        EXPECT_LT(newest_of_all.exchange(hold->token().zxid), hold->token().zxid) << "tokens of exclusive holds grow";
      }
      if (cycle % 3 == 0) std::this_thread::yield();
      inside -= wanted;
    }
  });
  crowd.join();
  EXPECT_EQ(most, kPermits) << "never more; and all permits were in use";
  EXPECT_TRUE(wait_for_nodes(kPath, 0));
}

}  // namespace
}  // namespace zkrecipes::testing
