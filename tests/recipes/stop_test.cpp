// SPDX-License-Identifier: Apache-2.0
// A stop token ends a wait at once, whatever the state of the connection, and leaves no node behind.
#include <algorithm>
#include <future>

#include "tests/recipes/lock_types.h"
#include "tests/recipes/recipe_test.h"

namespace zkrecipes::testing {
namespace {

constexpr auto kAtOnce = 10ms;

template <class Lock>
class StopTest : public ControlledRecipeTest {
 protected:
  /// How long a blocked call takes to return after the stop: the fastest of a few, because on a loaded machine any one
  /// of them can be late. `is_blocked`: the call has got to where it waits.
  static Clock::duration fastest_stop(Lock& lock, const std::function<bool()>& is_blocked) {
    auto fastest = Clock::duration::max();
    for (int i = 0; i < 5 && fastest > kAtOnce; ++i) {
      StopSource stop;
      Clock::time_point returned;
      Background waiter([&] {
        EXPECT_EQ(lock.acquire(stop.token()).status(), AcquireStatus::stopped);
        returned = Clock::now();
      });
      EXPECT_TRUE(wait_for(is_blocked));
      const auto requested = Clock::now();
      EXPECT_TRUE(stop.request_stop());
      waiter.join();
      fastest = std::min(fastest, returned - requested);
    }
    return fastest;
  }
};

TYPED_TEST_SUITE(StopTest, LockTypes, LockTypeNames);

TYPED_TEST(StopTest, BehindAHolder_EndsTheWaitAtOnceAndRemovesTheNode) {
  Connection& waiting = this->connect();
  TypeParam lock(waiting, this->kPath), holder(this->connect(), this->kPath);
  const Hold hold = holder.acquire();
  const std::size_t nodes = this->nodes_at(this->kPath).size();
  EXPECT_LE(this->fastest_stop(lock, [&] { return this->load_of(waiting).watches == 1; }), kAtOnce);
  EXPECT_TRUE(this->wait_for_nodes(this->kPath, nodes));
  EXPECT_TRUE(this->wait_for_waiters(waiting, 0));
}

TYPED_TEST(StopTest, NeverConnected_EndsTheWaitAtOnce) {
  this->proxy().refuse(true);
  Connection& connection = this->begin_connect(this->options_by_proxy());
  TypeParam lock(connection, this->kPath);
  EXPECT_LE(this->fastest_stop(lock, [] { return true; }), kAtOnce);
  this->proxy().refuse(false);
  ASSERT_TRUE(this->wait_for_state(connection, ConnectionState::connected));
  EXPECT_TRUE(lock.try_acquire_for(kLimit)) << "nobody stands in the way";
}

TYPED_TEST(StopTest, WhileSuspended_EndsTheWaitAtOnceAndRemovesTheNodeLater) {
  Connection& connection = this->connect_by_proxy();
  TypeParam lock(connection, this->kPath), holder(this->connect(), this->kPath);
  const Hold hold = holder.acquire();
  const std::size_t nodes = this->nodes_at(this->kPath).size();
  StopSource stop;
  Background waiter([&] { EXPECT_EQ(lock.acquire(stop.token()).status(), AcquireStatus::stopped); });
  ASSERT_TRUE(this->wait_for_waiters(connection, 1));
  this->proxy().refuse(true);
  ASSERT_TRUE(this->wait_for_state(connection, ConnectionState::suspended));
  stop.request_stop();
  waiter.join();
  EXPECT_LE(this->fastest_stop(lock, [] { return true; }), kAtOnce) << "one that begins while suspended";
  this->proxy().refuse(false);
  EXPECT_TRUE(this->wait_for_nodes(this->kPath, nodes));
}

TYPED_TEST(StopTest, RequestedBefore_NothingIsSent) {
  Connection& connection = this->connect();
  TypeParam lock(connection, this->kPath);
  StopSource stop;
  stop.request_stop();
  EXPECT_EQ(lock.acquire(stop.token()).status(), AcquireStatus::stopped);
  EXPECT_EQ(lock.try_acquire_for(1h, stop.token()).status(), AcquireStatus::stopped);
  EXPECT_EQ(lock.try_acquire_until(Clock::now() - 1s, stop.token()).status(), AcquireStatus::stopped);
  AcquireOptions options;
  options.stop = stop.token();
  PendingHold pending = lock.acquire_async(options);
  EXPECT_TRUE(pending.ready());
  EXPECT_THROW(static_cast<void>(pending.get()), Cancelled);
  EXPECT_EQ(this->load_of(connection).requests, 0U);
  EXPECT_FALSE(this->plain().stat(this->full(this->kPath))) << "not even the lock path was made";
}

TYPED_TEST(StopTest, AfterTheGrant_ChangesNothing) {
  TypeParam lock(this->connect(), this->kPath);
  StopSource stop;
  const AcquireResult hold = lock.acquire(stop.token());
  ASSERT_TRUE(hold);
  stop.request_stop();
  EXPECT_TRUE(hold->is_valid());
}

TYPED_TEST(StopTest, APendingHold_IsReadyAndItsCallbackIsCalled) {
  Connection& waiting = this->connect();
  TypeParam lock(waiting, this->kPath), holder(this->connect(), this->kPath);
  const Hold hold = holder.acquire();
  StopSource stop;
  AcquireOptions options;
  options.stop = stop.token();
  PendingHold pending = lock.acquire_async(options), told = lock.acquire_async(options);
  std::promise<AcquireStatus> status;
  told.on_ready([&](const AcquireResult& result) { status.set_value(result.status()); });
  ASSERT_TRUE(this->wait_for_waiters(waiting, 2));
  stop.request_stop();
  EXPECT_TRUE(pending.ready());
  EXPECT_THROW(static_cast<void>(pending.get()), Cancelled);
  EXPECT_EQ(status.get_future().get(), AcquireStatus::stopped);
  EXPECT_TRUE(this->wait_for_waiters(waiting, 0));
}

TYPED_TEST(StopTest, AgainstAGrant_OneOfTheTwoHappens) {
  Connection& connection = this->connect();
  TypeParam lock(connection, this->kPath), holder(this->connect(), this->kPath);
  int granted = 0;
  for (int i = 0; i < 30; ++i) {
    Hold hold = holder.acquire();
    StopSource stop;
    Background waiter([&] {
      const AcquireResult result = lock.acquire(stop.token());
      granted += result ? 1 : 0;
      EXPECT_TRUE(result || result.status() == AcquireStatus::stopped) << result.status();
      EXPECT_TRUE(!result || result->is_valid());
    });
    ASSERT_TRUE(wait_for([&] { return this->load_of(connection).watches == 1; }));
    hold = Hold();
    stop.request_stop();
  }
  EXPECT_TRUE(this->wait_for_nodes(this->kPath, 0)) << granted << " were granted";
}

TYPED_TEST(StopTest, TheResult_SaysWhyThereIsNoHold) {
  Connection& connection = this->connect_by_proxy();
  TypeParam lock(connection, this->kPath), holder(this->connect(), this->kPath);
  const Hold hold = holder.acquire();
  EXPECT_EQ(lock.try_acquire().status(), AcquireStatus::busy);
  EXPECT_EQ(lock.try_acquire_for(1ms).status(), AcquireStatus::timed_out);
  EXPECT_EQ(lock.try_acquire_until(std::chrono::system_clock::now() + 1ms).status(), AcquireStatus::timed_out);
  this->proxy().refuse(true);
  ASSERT_TRUE(this->wait_for_state(connection, ConnectionState::suspended));
  EXPECT_EQ(lock.try_acquire().status(), AcquireStatus::not_connected);
  EXPECT_EQ(lock.try_acquire_for(1ms).status(), AcquireStatus::not_connected);
  connection.close();
  EXPECT_THROW(static_cast<void>(lock.try_acquire()), ConnectionClosed) << "what has failed for good is thrown";
}

// ---- lock() ----

template <class Lock>
class StopLockTest : public ControlledRecipeTest {
 protected:
  /// Every way to wait for the lock, stopped: at once, and nothing is held.
  static void expect_stopped(Connection& waiting, const std::function<bool(const StopToken&)>& lock) {
    StopSource stop;
    Background waiter([&] { EXPECT_FALSE(lock(stop.token())); });
    EXPECT_TRUE(wait_for([&] { return load_of(waiting).watches == 1; }));
    stop.request_stop();
    waiter.join();
    EXPECT_TRUE(wait_for_waiters(waiting, 0));
    EXPECT_FALSE(lock(stop.token())) << "requested before";
  }
};

using LocksThatStop = ::testing::Types<FairMutexUnderTest, SimpleLockUnderTest, WriteLockUnderTest,
                                       RecursiveMutexUnderTest, RecursiveWriteLockUnderTest>;
TYPED_TEST_SUITE(StopLockTest, LocksThatStop, LockTypeNames);

TYPED_TEST(StopLockTest, Lock_ReturnsFalseAndHoldsNothing) {
  Connection& waiting = this->connect();
  TypeParam lock(waiting, this->kPath), holder(this->connect(), this->kPath);
  holder.lock();
  this->expect_stopped(waiting, [&](const StopToken& stop) { return lock.lock(stop); });
  EXPECT_FALSE(lock.is_held());
  holder.unlock();
  EXPECT_TRUE(lock.lock(StopSource().token()));
  EXPECT_TRUE(lock.is_held());
  lock.unlock();
}

template <class Lock>
class StopSharedLockTest : public StopLockTest<Lock> {};

using SharedLocksThatStop = ::testing::Types<WriteLockUnderTest, RecursiveWriteLockUnderTest>;
TYPED_TEST_SUITE(StopSharedLockTest, SharedLocksThatStop, LockTypeNames);

TYPED_TEST(StopSharedLockTest, LockShared_ReturnsFalseAndHoldsNothing) {
  Connection& waiting = this->connect();
  TypeParam lock(waiting, this->kPath), holder(this->connect(), this->kPath);
  holder.lock();
  this->expect_stopped(waiting, [&](const StopToken& stop) { return lock.lock_shared(stop); });
  EXPECT_FALSE(lock.is_held_shared());
  holder.unlock();
  EXPECT_TRUE(lock.lock_shared(StopSource().token()));
  EXPECT_TRUE(lock.is_held_shared());
  lock.unlock_shared();
}

}  // namespace
}  // namespace zkrecipes::testing
