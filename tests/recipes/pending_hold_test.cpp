// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/pending_hold.h"

#include <future>
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
  EXPECT_THROW(pending.on_ready([](const AcquireResult&) {}), std::logic_error);
  EXPECT_THROW(pending.wait_for(1s), std::logic_error);
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
  CallCount replaced, ready;
  pending.on_ready(replaced.handler());
  pending.on_ready(ready.handler());
  EXPECT_THROW(static_cast<void>(pending.get()), std::logic_error) << "the result is the callback's";
  hold.release();
  ASSERT_TRUE(ready.wait());
  EXPECT_TRUE(pending.ready());
  EXPECT_THROW(pending.on_ready(ready.handler()), std::logic_error) << "there is nothing left to hand over";
  EXPECT_THROW(static_cast<void>(pending.get()), std::logic_error);
  EXPECT_EQ(ready.count(), 1);
  EXPECT_EQ(replaced.count(), 0);
}

TEST_F(PendingHoldTest, ACallbackForWhatAThreadWaitsForInGet_IsRefused) {
  FairMutex mutex(connect(), kPath);
  Hold hold = mutex.acquire();
  PendingHold pending = mutex.acquire_async();
  Background getter([&] { EXPECT_TRUE(pending.get().is_valid()); });
  EXPECT_TRUE(wait_for([&] {
    try {
      pending.on_ready([](const AcquireResult&) {});
      pending.on_ready(nullptr);  // the thread is not there yet
      return false;
    } catch (const std::logic_error&) {
      return true;
    }
  }));
  hold.release();
}

TEST_F(PendingHoldTest, ACallbackThatOwnsItsOwner_IsDroppedWithThePendingHold) {
  struct Session : std::enable_shared_from_this<Session> {
    void start(FairMutex& mutex) {
      pending = mutex.acquire_async();
      pending.on_ready([self = shared_from_this()](const AcquireResult&) {});
    }
    void stop() { pending = PendingHold(); }
    PendingHold pending;
  };
  FairMutex mutex(connect(), kPath);
  const Hold hold = mutex.acquire();
  auto session = std::make_shared<Session>();
  session->start(mutex);
  Session* const raw = session.get();
  const std::weak_ptr<Session> weak = session;
  session.reset();
  raw->stop();  // the callback had the last reference
  EXPECT_TRUE(weak.expired());
  EXPECT_TRUE(wait_for_nodes(kPath, 1));
}

TEST_F(PendingHoldTest, ACancelAgainstAGrant_NeverLeavesAHold) {
  Connection& connection = connect();
  FairMutex mutex(connection, kPath), holder(connect(), kPath);
  for (int i = 0; i < 50; ++i) {
    Hold hold = holder.acquire();
    PendingHold pending = mutex.acquire_async();
    ASSERT_TRUE(wait_for([&] { return load_of(connection).watches == 1; }));
    hold = Hold();
    pending.cancel();
    EXPECT_THROW(static_cast<void>(pending.get()), Cancelled);
  }
  EXPECT_TRUE(wait_for_nodes(kPath, 0));
}

TEST_F(PendingHoldTest, OnReadyOfOneThatIsReady_IsCalledToo) {
  FairMutex mutex(connect(), kPath);
  PendingHold pending = mutex.acquire_async();
  ASSERT_TRUE(wait_until_ready(pending));
  CallCount ready;
  pending.on_ready(ready.handler());
  EXPECT_TRUE(ready.wait());
}

TEST_F(PendingHoldTest, AnEmptyCallback_TakesTheLastOneBack) {
  FairMutex mutex(connect(), kPath);
  Hold hold = mutex.acquire();
  PendingHold pending = mutex.acquire_async();
  CallCount removed;
  pending.on_ready(removed.handler());
  pending.on_ready(nullptr);
  hold.release();
  EXPECT_TRUE(get(pending).is_valid());
  EXPECT_EQ(removed.count(), 0);
}

TEST_F(PendingHoldTest, TheCallback_OwnsTheHold) {
  FairMutex mutex(connect(), kPath);
  std::promise<Hold> taken;
  {
    PendingHold pending = mutex.acquire_async();
    pending.on_ready([&taken](AcquireResult result) { taken.set_value(std::move(result).value()); });
    ASSERT_TRUE(wait_for([&] { return pending.ready(); }));
    auto hold = taken.get_future();
    ASSERT_EQ(hold.wait_for(kLimit), std::future_status::ready);
    pending = PendingHold();
    EXPECT_TRUE(hold.get().is_valid()) << "the end of the PendingHold takes nothing from the callback";
  }
}

TEST_F(PendingHoldTest, WaitFor_LeavesTheAcquireAlone) {
  FairMutex mutex(connect(), kPath);
  Hold hold = mutex.acquire();
  PendingHold pending = mutex.acquire_async();
  EXPECT_FALSE(pending.wait_for(1ms));
  EXPECT_FALSE(pending.wait_until(std::chrono::system_clock::now() + 1ms));
  EXPECT_FALSE(pending.wait_until(Clock::time_point::min()));
  hold.release();
  ASSERT_TRUE(pending.wait_for(kLimit));
  EXPECT_TRUE(pending.get().is_valid());
}

TEST_F(PendingHoldTest, ADeadline_EndsTheWait) {
  Connection& connection = connect();
  FairMutex mutex(connection, kPath);
  Hold hold = mutex.acquire();
  AcquireOptions options;
  options.deadline = Clock::now() + 20ms;
  PendingHold pending = mutex.acquire_async(options);
  PendingHold told = mutex.acquire_async(options);
  std::promise<AcquireStatus> status;
  told.on_ready([&](const AcquireResult& result) { status.set_value(result.status()); });
  EXPECT_EQ(status.get_future().get(), AcquireStatus::timed_out);
  ASSERT_TRUE(wait_until_ready(pending));
  EXPECT_EQ(error_of([&] { static_cast<void>(pending.get()); }), make_error_code(ErrorCode::timed_out));
  EXPECT_TRUE(wait_for_nodes(kPath, 1));
  EXPECT_EQ(load_of(connection).timers, 0U);
}

TEST_F(PendingHoldTest, ADeadlineThatIsOver_MakesItATry) {
  FairMutex mutex(connect(), kPath);
  AcquireOptions options;
  options.deadline = Clock::now();
  PendingHold free = mutex.acquire_async(options);
  const Hold hold = get(free);
  EXPECT_TRUE(hold.is_valid());
  PendingHold busy = mutex.acquire_async(options);
  ASSERT_TRUE(wait_until_ready(busy));
  EXPECT_EQ(error_of([&] { static_cast<void>(busy.get()); }), make_error_code(ErrorCode::busy));
}

TEST_F(PendingHoldTest, AGrantInTime_TakesTheTimerBack) {
  Connection& connection = connect();
  FairMutex mutex(connection, kPath);
  AcquireOptions options;
  options.deadline = Clock::now() + 1h;
  PendingHold pending = mutex.acquire_async(options);
  EXPECT_TRUE(get(pending).is_valid());
  EXPECT_EQ(load_of(connection).timers, 0U);
}

TEST_F(PendingHoldTest, ACancel_EndsGetAndIsReportedToTheCallback) {
  Connection& waiting = connect();
  FairMutex mutex(waiting, kPath);
  const Hold hold = mutex.acquire();
  PendingHold pending = mutex.acquire_async();
  PendingHold told = mutex.acquire_async();
  std::promise<AcquireStatus> status;
  told.on_ready([&](const AcquireResult& result) { status.set_value(result.status()); });
  Background getter([&] { EXPECT_THROW(static_cast<void>(pending.get()), Cancelled); });
  ASSERT_TRUE(wait_for_waiters(waiting, 2));
  pending.cancel();
  told.cancel();
  getter.join();
  EXPECT_EQ(status.get_future().get(), AcquireStatus::stopped);
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
