// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/pending_hold.h"

#include <stdexcept>

#include "tests/recipes/recipe_test.h"

namespace zkrecipes::testing {
namespace {

class PendingHoldTest : public ControlledRecipeTest {};

TEST_F(PendingHoldTest, AnEmptyOne_HasNothingToGive) {
  PendingHold pending;
  EXPECT_FALSE(pending.ready());
  pending.cancel();
  EXPECT_THROW(static_cast<void>(pending.get()), std::logic_error);
  EXPECT_THROW(pending.on_ready([] {}), std::logic_error);
}

TEST_F(PendingHoldTest, TheHold_IsHandedOverOnce) {
  FairMutex mutex(connect(), kPath);
  PendingHold pending = mutex.acquire_async();
  const Hold hold = get(pending);
  EXPECT_TRUE(hold.is_valid());
  EXPECT_THROW(static_cast<void>(pending.get()), std::logic_error);
  pending.cancel();
  EXPECT_TRUE(hold.is_valid()) << "what was taken is not the pending one's any more";
}

TEST_F(PendingHoldTest, Get_Waits) {
  Connection& waiting = connect();
  FairMutex mutex(waiting, kPath);
  Hold hold = mutex.acquire();
  PendingHold pending = mutex.acquire_async();
  Background getter([&] { EXPECT_TRUE(pending.get().is_valid()); });
  ASSERT_TRUE(wait_for_waiters(waiting, 1));
  EXPECT_FALSE(getter.done());
  hold.release();
}

TEST_F(PendingHoldTest, OnReady_IsCalledOnce) {
  FairMutex mutex(connect(), kPath);
  Hold hold = mutex.acquire();
  PendingHold pending = mutex.acquire_async();
  CallCount replaced, ready, late;
  pending.on_ready(replaced.handler());
  pending.on_ready(ready.handler());
  hold.release();
  ASSERT_TRUE(ready.wait());
  EXPECT_TRUE(pending.ready());
  pending.on_ready(late.handler());
  ASSERT_TRUE(late.wait()) << "also if it is ready already";
  EXPECT_EQ(ready.count(), 1);
  EXPECT_EQ(replaced.count(), 0);
}

TEST_F(PendingHoldTest, ACancel_IsToldToWhoWaits) {
  Connection& waiting = connect();
  FairMutex mutex(waiting, kPath);
  const Hold hold = mutex.acquire();
  PendingHold pending = mutex.acquire_async();
  CallCount ready;
  pending.on_ready(ready.handler());
  Background getter([&] { EXPECT_THROW(static_cast<void>(pending.get()), Cancelled); });
  ASSERT_TRUE(wait_for_waiters(waiting, 1));
  pending.cancel();
  getter.join();
  EXPECT_TRUE(ready.wait());
  EXPECT_TRUE(wait_for_nodes(kPath, 1));
}

TEST_F(PendingHoldTest, ACancelAfterTheGrant_ReleasesTheLock) {
  FairMutex mutex(connect(), kPath);
  PendingHold pending = mutex.acquire_async();
  ASSERT_TRUE(wait_until_ready(pending));
  pending.cancel();
  EXPECT_THROW(static_cast<void>(pending.get()), Cancelled);
  EXPECT_TRUE(wait_for_nodes(kPath, 0));
}

TEST_F(PendingHoldTest, AGrantThatNobodyTakes_IsReleasedWithThePendingHold) {
  FairMutex mutex(connect(), kPath);
  {
    const PendingHold pending = mutex.acquire_async();
    ASSERT_TRUE(wait_until_ready(pending));
  }
  EXPECT_TRUE(mutex.try_acquire_for(kLimit));
}

TEST_F(PendingHoldTest, Moving_KeepsThePlaceInLine) {
  Connection& waiting = connect();
  FairMutex mutex(waiting, kPath);
  Hold hold = mutex.acquire();
  PendingHold first = mutex.acquire_async();
  ASSERT_TRUE(wait_for_waiters(waiting, 1));
  PendingHold second = std::move(first);
  EXPECT_FALSE(first.ready());  // NOLINT(bugprone-use-after-move): it is promised to be empty
  PendingHold replaced = mutex.acquire_async();
  ASSERT_TRUE(wait_for_waiters(waiting, 2));
  replaced = std::move(second);
  ASSERT_TRUE(wait_for_waiters(waiting, 1)) << "assigning leaves the queue in the old place";
  hold.release();
  EXPECT_TRUE(get(replaced).is_valid());
}

TEST_F(PendingHoldTest, BegunWhileDisconnected_IsGrantedLater) {
  Connection& connection = connect_by_proxy();
  FairMutex mutex(connection, kPath);
  proxy().refuse(true);
  ASSERT_TRUE(wait_for_state(connection, ConnectionState::suspended));
  PendingHold pending = mutex.acquire_async();
  PendingHold cancelled = mutex.acquire_async();
  cancelled.cancel();
  EXPECT_FALSE(pending.ready());
  EXPECT_TRUE(cancelled.ready());
  proxy().refuse(false);
  EXPECT_TRUE(get(pending).is_valid());
}

TEST_F(PendingHoldTest, BegunBeforeTheFirstSession_IsGrantedLater) {
  Connection& connection = begin_connect(options());
  FairMutex mutex(connection, kPath);
  PendingHold pending = mutex.acquire_async();
  EXPECT_TRUE(get(pending).is_valid());
}

TEST_F(PendingHoldTest, AHoldThatIsLostBeforeItIsTaken_IsNotValid) {
  Connection& connection = connect();
  FairMutex mutex(connection, kPath);
  PendingHold pending = mutex.acquire_async();
  ASSERT_TRUE(wait_until_ready(pending));
  const std::int64_t session = connection.session_id();
  server().expire_session(session);
  ASSERT_TRUE(wait_for([&] { return connection.session_id() != session; }));
  EXPECT_FALSE(pending.get().is_valid());
}

}  // namespace
}  // namespace zkrecipes::testing
