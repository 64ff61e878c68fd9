// SPDX-License-Identifier: Apache-2.0
// The calls that user callbacks may make, and those that are refused there because they would wait for themselves.
#include <mutex>

#include "tests/recipes/lock_types.h"
#include "tests/recipes/recipe_test.h"

namespace zkrecipes::testing {
namespace {

template <class Lock>
class CallbackThreadTest : public ControlledRecipeTest {
 protected:
  /// Runs the action on the callback thread and waits for its end.
  static void on_callback_thread(Lock& lock, const std::function<void()>& action) {
    PendingHold pending = lock.acquire_async();
    CallCount done;
    pending.on_ready([&action, done](const AcquireResult&) {
      action();
      done.handler()();
    });
    ASSERT_TRUE(done.wait());
  }
};

TYPED_TEST_SUITE(CallbackThreadTest, LockTypes, LockTypeNames);

TYPED_TEST(CallbackThreadTest, BlockingCalls_AreRefused) {
  Connection& connection = this->connect();
  TypeParam somewhere(connection, "/somewhere");
  TypeParam lock(connection, this->kPath);
  TypeParam busy(connection, "/busy");
  const Hold blocker = busy.acquire();
  Hold hold = lock.acquire();
  this->on_callback_thread(somewhere, [&] {
    EXPECT_THROW(static_cast<void>(lock.acquire()), std::logic_error);
    EXPECT_THROW(static_cast<void>(lock.try_acquire()), std::logic_error);
    EXPECT_THROW(static_cast<void>(lock.try_acquire_for(1s)), std::logic_error);
    EXPECT_THROW(static_cast<void>(lock.try_acquire_until(Clock::now())), std::logic_error);
    EXPECT_THROW(lock.lock(), std::logic_error);
    EXPECT_THROW(static_cast<void>(lock.try_lock()), std::logic_error);
    EXPECT_THROW(hold.release(), std::logic_error);
    EXPECT_THROW(static_cast<void>(contenders(connection, this->kPath)), std::logic_error);
    EXPECT_THROW(request_revoke(connection, hold.node()), std::logic_error);
    PendingHold pending = busy.acquire_async();
    EXPECT_THROW(static_cast<void>(pending.get()), std::logic_error) << "not ready";
  });
  EXPECT_TRUE(hold.is_valid()) << "a refused release releases nothing";
  hold.release();
}

TYPED_TEST(CallbackThreadTest, OnReady_MayTakeAndReleaseAndAcquireAgain) {
  TypeParam lock(this->connect(), this->kPath);
  PendingHold pending = lock.acquire_async();
  PendingHold again;
  CallCount done;
  pending.on_ready([&](AcquireResult result) {
    const Hold hold = std::move(result).value();
    EXPECT_TRUE(hold.is_valid());
    again = lock.acquire_async();
    again.on_ready([&](AcquireResult second) {
      second = AcquireResult();
      done.handler()();
    });
  });
  ASSERT_TRUE(done.wait());
  EXPECT_TRUE(this->wait_for_nodes(this->kPath, 0));
}

TYPED_TEST(CallbackThreadTest, OnLost_MayReleaseAndDestroyAndAcquireAgain) {
  Connection& connection = this->connect();
  auto lock = std::make_unique<TypeParam>(connection, this->kPath);
  auto hold = std::make_unique<Hold>(lock->acquire());
  PendingHold again;
  CallCount done;
  const Subscription subscription = hold->on_lost([&] {
    again = lock->acquire_async();
    hold.reset();
    lock.reset();
    done.handler()();
  });
  this->expire_session(connection);
  ASSERT_TRUE(done.wait());
  EXPECT_TRUE(this->get(again).is_valid());
}

TYPED_TEST(CallbackThreadTest, OnReady_MayDestroyThePendingHoldAndTheLock) {
  auto lock = std::make_unique<TypeParam>(this->connect(), this->kPath);
  auto pending = std::make_unique<PendingHold>(lock->acquire_async());
  CallCount done;
  pending->on_ready([&](const AcquireResult&) {
    pending.reset();
    lock.reset();
    done.handler()();
  });
  ASSERT_TRUE(done.wait());
  EXPECT_TRUE(this->wait_for_nodes(this->kPath, 0));
}

TYPED_TEST(CallbackThreadTest, ACallback_MayCloseTheConnection) {
  Connection& connection = this->connect();
  TypeParam lock(connection, this->kPath);
  const Hold blocker = lock.acquire();
  PendingHold waiting = lock.acquire_async();
  TypeParam somewhere(connection, "/somewhere");
  PendingHold pending = somewhere.acquire_async();
  CallCount done;
  pending.on_ready([&](const AcquireResult&) {
    connection.close();
    done.handler()();
  });
  ASSERT_TRUE(done.wait());
  EXPECT_THROW(static_cast<void>(this->get(waiting)), ConnectionClosed);
  EXPECT_FALSE(blocker.is_valid());
}

TYPED_TEST(CallbackThreadTest, ACallbackThatThrows_DoesNotStopTheOthers) {
  TypeParam lock(this->connect(), this->kPath);
  PendingHold first = lock.acquire_async();
  first.on_ready([](const AcquireResult&) { throw std::runtime_error("on purpose, by a test"); });
  this->on_callback_thread(lock, [] {});
}

}  // namespace
}  // namespace zkrecipes::testing
