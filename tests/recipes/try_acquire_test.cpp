// SPDX-License-Identifier: Apache-2.0
// A try never waits for a connection, nor for another holder.
#include <algorithm>
#include <cmath>

#include "tests/recipes/lock_types.h"
#include "tests/recipes/recipe_test.h"

namespace zkrecipes::testing {
namespace {

template <class Lock>
class TryLockTest : public ControlledRecipeTest {
 protected:
  /// The fastest of a few calls: on a loaded machine any one of them can be late.
  static Clock::duration fastest(const std::function<void()>& call) {
    auto best = Clock::duration::max();
    for (int i = 0; i < 5; ++i) {
      const auto before = Clock::now();
      call();
      const auto took = Clock::now() - before;
      EXPECT_LT(took, 3s);
      best = std::min(best, took);
    }
    return best;
  }
};

TYPED_TEST_SUITE(TryLockTest, LockableTypes, LockTypeNames);

TYPED_TEST(TryLockTest, WhileSuspended_TriesAreEmptyAtOnce) {
  Connection& broken = this->connect_by_proxy();
  TypeParam lock(broken, this->kPath);
  this->proxy().refuse(true);
  ASSERT_TRUE(this->wait_for_state(broken, ConnectionState::suspended));
  EXPECT_LT(this->fastest([&] { EXPECT_FALSE(lock.try_lock()); }), 100ms);
  EXPECT_LT(this->fastest([&] { EXPECT_FALSE(lock.try_lock_for(0s)); }), 100ms);
  this->proxy().refuse(false);
  ASSERT_TRUE(lock.try_lock_for(kLimit));
  lock.unlock();
}

TYPED_TEST(TryLockTest, ANegativeTimeout_IsATry) {
  Connection& connection = this->connect();
  TypeParam lock(connection, this->kPath), other(connection, this->kPath);
  ASSERT_TRUE(lock.try_lock_for(-1ms));
  EXPECT_FALSE(other.try_lock_for(std::chrono::hours::min()));
  EXPECT_FALSE(other.try_lock_for(std::chrono::duration<double>(-0.1)));
  EXPECT_THROW(static_cast<void>(other.try_lock_for(std::chrono::duration<double>(std::nan("")))),
               std::invalid_argument);
  lock.unlock();
}

template <class Lock>
class TryAcquireTest : public TryLockTest<Lock> {};

TYPED_TEST_SUITE(TryAcquireTest, LockTypes, LockTypeNames);

TYPED_TEST(TryAcquireTest, WhileConnectingSuspendedOrLost_TriesAreEmptyAtOnce) {
  FaultProxy& proxy = this->proxy();
  proxy.refuse(true);
  Connection& connection = this->begin_connect(this->options_by_proxy(6s));
  TypeParam lock(connection, this->kPath);
  const auto expect_empty_at_once = [&] {
    EXPECT_LT(this->fastest([&] { EXPECT_FALSE(lock.try_acquire()); }), 100ms) << connection.state();
    EXPECT_LT(this->fastest([&] { EXPECT_FALSE(lock.try_acquire_for(0s)); }), 100ms) << connection.state();
    EXPECT_LT(this->fastest([&] { EXPECT_FALSE(lock.try_acquire_for(-1s)); }), 100ms) << connection.state();
  };
  EXPECT_EQ(connection.state(), ConnectionState::connecting);
  expect_empty_at_once();
  proxy.refuse(false);
  ASSERT_TRUE(this->wait_for_state(connection, ConnectionState::connected));
  proxy.refuse(true);
  ASSERT_TRUE(this->wait_for_state(connection, ConnectionState::suspended));
  expect_empty_at_once();
  ASSERT_TRUE(this->wait_for_state(connection, ConnectionState::lost));
  expect_empty_at_once();
  proxy.refuse(false);
  ASSERT_TRUE(this->wait_for_state(connection, ConnectionState::connected));
  EXPECT_TRUE(lock.try_acquire());
}

TYPED_TEST(TryAcquireTest, AConnectionThatIsLostInTheMiddle_EndsTheTry) {
  Connection& connection = this->connect_by_proxy();
  TypeParam lock(connection, this->kPath);
  lock.acquire().release();
  for (const RequestKind kind : {RequestKind::get_children, RequestKind::exists, RequestKind::create}) {
    if (kind == RequestKind::get_children && TypeParam::kLookKind == RequestKind::create) continue;
    if (kind == RequestKind::exists && TypeParam::kLookKind != RequestKind::create) continue;
    SCOPED_TRACE(name_of(kind));
    ASSERT_TRUE(this->wait_for_nodes(this->kPath, 0));
    ASSERT_TRUE(this->wait_for_state(connection, ConnectionState::connected));
    this->proxy().hold_reply(kind);
    std::atomic<bool> empty{false};
    Background trying([&] { empty = !lock.try_acquire(); });
    ASSERT_TRUE(this->proxy().wait_until_fired(kLimit));
    this->proxy().refuse(true);
    ASSERT_TRUE(this->wait_for_state(connection, ConnectionState::suspended));
    EXPECT_TRUE(wait_for([&] { return trying.done(); }, 3s));
    this->proxy().refuse(false);
    trying.join();
    EXPECT_TRUE(empty);
  }
  EXPECT_TRUE(this->wait_for_nodes(this->kPath, 0));
}

}  // namespace
}  // namespace zkrecipes::testing
