// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/semaphore.h"

#include <random>

#include "tests/recipes/recipe_test.h"

namespace zkrecipes::testing {
namespace {

class SemaphoreTest : public ControlledRecipeTest {
 protected:
  const std::string kLeases = std::string(kPath) + "/leases";
  const std::string kLocks = std::string(kPath) + "/locks";
  /// A contender that nobody serves, ahead of all others.
  const std::string kStuck = kLocks + "/_c_00000000-0000-0000-0000-000000000000-lock-0000000000";
  /// A permit in use, if it exists.
  const std::string kTaken = kLeases + "/_c_00000000-0000-0000-0000-000000000000-lease-0000000000";

  bool wait_for_leases(std::size_t number) { return wait_for_children(kLeases, number); }
};

TEST_F(SemaphoreTest, AllPermitsCanBeInUse_AndNotOneMore) {
  Semaphore here(connect(), kPath, 3), there(connect(), kPath, 3);
  const Hold first = here.acquire();
  Hold second = here.acquire();
  const Hold third = there.acquire();
  EXPECT_NE(first.token(), second.token());
  EXPECT_FALSE(there.try_acquire());
  EXPECT_FALSE(here.try_acquire_for(100ms));
  second.release();
  EXPECT_TRUE(there.try_acquire_for(kLimit));
}

TEST_F(SemaphoreTest, TenClientsWithRandomHolds_NeverHoldMoreThanThePermits) {
  constexpr int kPermits = 3;
  constexpr int kClients = 10;
  constexpr int kCycles = 10;
  std::vector<Connection*> connections;
  for (int i = 0; i < kClients; ++i) connections.push_back(&begin_connect(options()));
  std::atomic<int> inside{0}, most{0}, cycles{0};
  Crowd crowd(kClients, [&](int i) {
    std::mt19937 random(static_cast<unsigned>(i));
    Semaphore semaphore(*connections[static_cast<std::size_t>(i)], kPath, kPermits);
    for (int cycle = 0; cycle < kCycles; ++cycle) {
      const Hold hold = semaphore.acquire();
      const int now = ++inside;
      int seen = most;
      while (now > seen && !most.compare_exchange_weak(seen, now)) {
      }
      // Stays until others have come in, or for a moment, at random.
      wait_for([&] { return inside == kPermits; }, std::chrono::milliseconds(random() % 20));
      ++cycles;
      --inside;
    }
  });
  crowd.join();
  EXPECT_EQ(most, kPermits) << "never more; and all permits were in use";
  EXPECT_EQ(cycles, kClients * kCycles);
}

TEST_F(SemaphoreTest, AClosedConnection_GivesItsPermitsBack) {
  Connection& closing = connect();
  Semaphore leaver(closing, kPath, 2), stayer(connect(), kPath, 2);
  const Hold first = leaver.acquire();
  const Hold second = leaver.acquire();
  EXPECT_FALSE(stayer.try_acquire());
  closing.close();
  const auto third = stayer.try_acquire_for(kLimit);
  const auto fourth = stayer.try_acquire_for(kLimit);
  EXPECT_TRUE(third);
  EXPECT_TRUE(fourth);
}

TEST_F(SemaphoreTest, AnExpiredSession_GivesItsPermitsBack) {
  Connection& expiring = connect();
  Semaphore leaver(expiring, kPath, 2), stayer(connect(), kPath, 2);
  const Hold first = leaver.acquire();
  const Hold second = leaver.acquire();
  CallCount lost;
  const Subscription one = first.on_lost(lost.handler());
  const Subscription two = second.on_lost(lost.handler());
  expire_session(expiring);
  const auto third = stayer.try_acquire_for(kLimit);
  const auto fourth = stayer.try_acquire_for(kLimit);
  EXPECT_TRUE(third);
  EXPECT_TRUE(fourth);
  ASSERT_TRUE(lost.wait(2));
  EXPECT_FALSE(first.is_valid());
  EXPECT_FALSE(second.is_valid());
  EXPECT_EQ(lost.count(), 2);
}

TEST_F(SemaphoreTest, ALeaseDeletedFromOutside_IsLostAndTheOthersAreNot) {
  Semaphore semaphore(connect(options(6s)), kPath, 2);
  const Hold first = semaphore.acquire();
  const Hold second = semaphore.acquire();
  remove_node(first.node());
  ASSERT_TRUE(wait_for([&] { return !first.is_valid(); }));
  EXPECT_TRUE(second.is_valid());
}

TEST_F(SemaphoreTest, ALeaseDeletedWhileWaitingForItsTurn_IsMadeAgain) {
  Connection& waiting = connect();
  Semaphore semaphore(connect(), kPath, 1), other(waiting, kPath, 1);
  Hold hold = semaphore.acquire();
  PendingHold pending = other.acquire_async();
  ASSERT_TRUE(wait_for_waiters(waiting, 1));
  ASSERT_TRUE(wait_for_leases(2));
  for (const std::string& lease : children(std::string(kPath) + "/leases")) {
    const std::string path = std::string(kPath) + "/leases/" + lease;
    if (path != hold.node()) remove_node(path);
  }
  ASSERT_TRUE(wait_for_leases(2)) << "made again";
  ASSERT_TRUE(wait_for_waiters(waiting, 1));
  EXPECT_FALSE(pending.ready());
  hold.release();
  EXPECT_TRUE(get(pending).is_valid());
}

TEST_F(SemaphoreTest, ATimeOutAtTheHeadOfTheLine_LeavesNoLease) {
  Connection& waiting = connect();
  Semaphore semaphore(connect(), kPath, 1), other(waiting, kPath, 1);
  const Hold hold = semaphore.acquire();
  EXPECT_FALSE(other.try_acquire_for(200ms));
  EXPECT_TRUE(wait_for_leases(1));
  EXPECT_TRUE(wait_for_nodes(kPath, 1));
  EXPECT_TRUE(hold.is_valid());
}

TEST_F(SemaphoreTest, ACancelAtTheHeadOfTheLine_LeavesNoLeaseAndTheNextBecomesTheHead) {
  Connection& quitter = connect();
  Connection& stayer = connect();
  Semaphore semaphore(connect(), kPath, 1), second(quitter, kPath, 1), third(stayer, kPath, 1);
  Hold hold = semaphore.acquire();
  PendingHold cancelled = second.acquire_async();
  ASSERT_TRUE(wait_for_waiters(quitter, 1));
  PendingHold stays = third.acquire_async();
  ASSERT_TRUE(wait_for_waiters(stayer, 1));
  cancelled.cancel();
  ASSERT_TRUE(wait_for_waiters(quitter, 0));
  ASSERT_TRUE(wait_for([&] { return nodes_at(kPath).size() == 3; })) << "the hold, the new head and its lease";
  EXPECT_FALSE(stays.ready());
  hold.release();
  EXPECT_TRUE(get(stays).is_valid());
}

TEST_F(SemaphoreTest, AReplyLostBetweenLeaseAndListing_LeavesNoOrphan) {
  Connection& connection = connect_by_proxy();
  Semaphore semaphore(connection, kPath, 1);
  semaphore.acquire().release();
  for (const int nth : {1, 2}) {
    for (const RequestKind kind : {RequestKind::create, RequestKind::get_children}) {
      SCOPED_TRACE(std::string(name_of(kind)) + " " + std::to_string(nth));
      proxy().drop_reply(kind, nth);
      Hold hold = semaphore.acquire();
      EXPECT_TRUE(proxy().wait_until_fired(kLimit));
      EXPECT_TRUE(wait_for_leases(1));
      expect_token_is_that_of_the_node(hold);
      hold.release();
      EXPECT_TRUE(wait_for_nodes(kPath, 0));
    }
  }
}

TEST_F(SemaphoreTest, TriesAmongOthersThatComeAndGo_FindAPermitAsLongAsThereIsOne) {
  constexpr int kUsers = 4;
  constexpr int kTries = 80;
  std::vector<Connection*> connections;
  for (int i = 0; i < kUsers; ++i) connections.push_back(&connect());
  std::atomic<bool> done{false};
  Crowd crowd(kUsers, [&](int i) {
    Semaphore semaphore(*connections[static_cast<std::size_t>(i)], kPath, 2 * kUsers + 2);
    while (!done) semaphore.acquire().release();
  });
  Connection& trying = connect();
  Semaphore semaphore(trying, kPath, 2 * kUsers + 2);
  int granted = 0;
  for (int i = 0; i < kTries; ++i)
    if (const auto hold = semaphore.try_acquire()) ++granted;
  done = true;
  crowd.join();
  EXPECT_EQ(granted, kTries);
}

TEST_F(SemaphoreTest, TriesOfManyAtOnce_NeverHoldMoreThanThePermitsAndLeaveNothing) {
  constexpr int kPermits = 2;
  constexpr int kUsers = 5;
  std::vector<Connection*> connections;
  for (int i = 0; i < kUsers; ++i) connections.push_back(&connect());
  std::atomic<int> inside{0}, most{0}, granted{0};
  Crowd crowd(kUsers, [&](int i) {
    Semaphore semaphore(*connections[static_cast<std::size_t>(i)], kPath, kPermits);
    for (int attempt = 0; attempt < 20; ++attempt) {
      const auto hold = semaphore.try_acquire();
      if (!hold) continue;
      ++granted;
      const int now = ++inside;
      int seen = most;
      while (now > seen && !most.compare_exchange_weak(seen, now)) {
      }
      --inside;
    }
  });
  crowd.join();
  EXPECT_LE(most, kPermits);
  EXPECT_GE(granted, 1);
  EXPECT_TRUE(wait_for_nodes(kPath, 0));
}

TEST_F(SemaphoreTest, ATryWhileTheHeadOfTheLineWaitsForAPermit_FailsAtOnce) {
  Connection& waiting = connect();
  Semaphore semaphore(connect(), kPath, 1), head(waiting, kPath, 1), trying(connect(), kPath, 1);
  const Hold hold = semaphore.acquire();
  PendingHold pending = head.acquire_async();
  ASSERT_TRUE(wait_for_waiters(waiting, 1));
  const auto before = Clock::now();
  EXPECT_FALSE(trying.try_acquire());
  EXPECT_LT(Clock::now() - before, 1s);
}

TEST_F(SemaphoreTest, ATryBehindAContenderThatDoesNotMove_FailsInTheEnd) {
  Connection& trying = connect();
  Semaphore semaphore(trying, kPath, 3);
  create_node(kLeases);  // stays, which the container that the semaphore makes may not
  create_node(kStuck);
  const auto before = Clock::now();
  EXPECT_FALSE(semaphore.try_acquire());
  EXPECT_LT(Clock::now() - before, 10s);
  EXPECT_TRUE(wait_for_children(kLocks, 1)) << "the try has left the line";
  Background trier([&] { EXPECT_TRUE(semaphore.try_acquire()); });
  ASSERT_TRUE(wait_for_waiters(trying, 2)) << "one for the contender ahead, one for the permits";
  remove_node(kStuck);
}

TEST_F(SemaphoreTest, ATryInLine_FailsAsSoonAsTheLastPermitIsTaken) {
  Connection& trying = connect();
  Semaphore semaphore(trying, kPath, 1);
  create_node(kLeases);
  create_node(kStuck);
  Background trier([&] { EXPECT_FALSE(semaphore.try_acquire()); });
  ASSERT_TRUE(wait_for_waiters(trying, 2));
  create_node(kTaken);
  EXPECT_TRUE(wait_for_waiters(trying, 0));
  trier.join();
  EXPECT_EQ(load_of(trying).timers, 0U) << "the timer of its patience ends with it";
  remove_node(kStuck);
  remove_node(kTaken);
}

TEST_F(SemaphoreTest, ATryInLineBeforeAnyPermitWasTaken_NoticesTheFirstOne) {
  // Also after the server has removed the container of the permits, because none was in use for a while.
  Connection& trying = connect();
  Semaphore semaphore(trying, kPath, 3);
  create_node(kStuck);
  Background trier([&] { EXPECT_TRUE(semaphore.try_acquire()); });
  ASSERT_TRUE(wait_for_nodes(kPath, 1)) << "in line";
  create_node(kTaken);
  ASSERT_TRUE(wait_for_waiters(trying, 2)) << "one for the contender ahead, one for the permits";
  remove_node(kStuck);
  trier.join();
  remove_node(kTaken);
}

// Each client counts with its own number of permits.
TEST_F(SemaphoreTest, AClientWithALargerNumber_TakesPermitsUpToItsOwn) {
  Semaphore small(connect(), kPath, 1), large(connect(), kPath, 3);
  const Hold first = small.acquire();
  EXPECT_FALSE(small.try_acquire());
  const auto second = large.try_acquire_for(kLimit);
  const auto third = large.try_acquire_for(kLimit);
  EXPECT_TRUE(second);
  EXPECT_TRUE(third);
  EXPECT_FALSE(large.try_acquire());
  EXPECT_FALSE(small.try_acquire_for(100ms));
  EXPECT_TRUE(first.is_valid()) << "nobody loses what it has";
}

TEST_F(SemaphoreTest, AClientWithASmallerNumber_WaitsUntilFewerAreInUse) {
  Connection& waiting = connect();
  Semaphore small(waiting, kPath, 1), large(connect(), kPath, 2);
  Hold first = large.acquire();
  Hold second = large.acquire();
  PendingHold pending = small.acquire_async();
  ASSERT_TRUE(wait_for_waiters(waiting, 1));
  first.release();
  ASSERT_TRUE(wait_for_leases(2)) << "one in use, and the one that waits";
  ASSERT_TRUE(wait_for_waiters(waiting, 1));
  EXPECT_FALSE(pending.ready());
  second.release();
  EXPECT_TRUE(get(pending).is_valid());
}

}  // namespace
}  // namespace zkrecipes::testing
