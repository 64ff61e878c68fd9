// SPDX-License-Identifier: Apache-2.0
// What the headers say about lifetimes: what may be destroyed inside which callback, and who waits for whom.
#include "tests/recipes/lock_types.h"
#include "tests/recipes/recipe_test.h"

namespace zkrecipes::testing {
namespace {

template <class Lock>
class LifetimesTest : public RecipeTest {};
TYPED_TEST_SUITE(LifetimesTest, LockTypes, LockTypeNames);

TYPED_TEST(LifetimesTest, HoldsAndPendingHolds_OutliveTheirLock) {
  Connection& connection = this->connect();
  auto lock = std::make_unique<TypeParam>(connection, this->kPath);
  Hold hold = lock->acquire();
  PendingHold pending = lock->acquire_async();
  ASSERT_TRUE(this->wait_for_waiters(connection, 1));
  lock.reset();
  EXPECT_TRUE(hold.is_valid());
  hold.release();
  EXPECT_TRUE(this->get(pending).is_valid());
}

TYPED_TEST(LifetimesTest, InsideOnReady_TheLockAndItsPendingHoldMayBeDestroyed) {
  Connection& connection = this->connect();
  auto lock = std::make_unique<TypeParam>(connection, this->kPath);
  auto pending = std::make_unique<PendingHold>(lock->acquire_async());
  std::atomic<bool> valid{false}, done{false};
  Gate registered;
  pending->on_ready([&](AcquireResult result) {
    registered.pass();
    lock.reset();
    pending.reset();
    valid = result && result->is_valid();
    done = true;
  });
  registered.open();
  EXPECT_TRUE(wait_for([&] { return done.load(); }));
  EXPECT_TRUE(valid);
}

TYPED_TEST(LifetimesTest, InsideOnLost_TheHoldItsSubscriptionAndItsLockMayBeDestroyed) {
  Connection& connection = this->connect(this->options(6s));
  auto lock = std::make_unique<TypeParam>(connection, this->kPath);
  lock->acquire().release();
  auto hold = std::make_unique<Hold>(lock->acquire());
  std::atomic<bool> done{false};
  std::unique_ptr<Subscription> subscription;
  Gate subscribed;
  subscription = std::make_unique<Subscription>(hold->on_lost([&] {
    subscribed.pass();
    subscription.reset();
    hold.reset();
    lock.reset();
    done = true;
  }));
  this->remove_node(hold->node());
  subscribed.open();
  EXPECT_TRUE(wait_for([&] { return done.load(); }));
}

TYPED_TEST(LifetimesTest, TheDestructorOfAHold_WaitsForNoCallback) {
  TypeParam lock(this->connect(this->options(6s)), this->kPath);
  Hold hold = lock.acquire();
  Gate gate;
  Subscription subscription = hold.on_lost([&gate] { gate.pass(); });
  this->remove_node(hold.node());
  ASSERT_TRUE(gate.wait_until_reached());
  hold = Hold();
  subscription = Subscription();
  EXPECT_FALSE(gate.passed()) << "both were destroyed while the callback ran";
  gate.open();
  EXPECT_TRUE(wait_for([&] { return gate.passed(); }));
}

}  // namespace
}  // namespace zkrecipes::testing
