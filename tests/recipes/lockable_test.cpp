// SPDX-License-Identifier: Apache-2.0
// Every lock type as Lockable, TimedLockable or SharedLockable.
#include <mutex>

#include "tests/recipes/lock_types.h"
#include "tests/recipes/recipe_test.h"

namespace zkrecipes::testing {
namespace {

template <class Lock>
class LockableTest : public ControlledRecipeTest {
 protected:
  /// Everybody in turn through one section, each with a lock object that `lock_of` gives.
  static void expect_exclusion(int crowd_size, int cycles, const std::function<Lock&(int)>& lock_of) {
    CriticalSection section;
    std::atomic<long> last_token{0};
    std::atomic<int> tokens_backwards{0};
    Crowd crowd(crowd_size, [&](int i) {
      Lock& lock = lock_of(i);
      for (int cycle = 0; cycle < cycles; ++cycle) {
        std::lock_guard<Lock> guard(lock);
        section.enter();
        const long token = lock.fencing_token().zxid;
        if (last_token.exchange(token) >= token) ++tokens_backwards;
        section.leave();
      }
    });
    crowd.join();
    EXPECT_EQ(section.entries(), crowd_size * cycles);
    EXPECT_EQ(section.overlaps(), 0);
    EXPECT_EQ(tokens_backwards, 0);
  }
};

TYPED_TEST_SUITE(LockableTest, LockableTypes, LockTypeNames);

TYPED_TEST(LockableTest, AGuard_HoldsInItsScopeOnly) {
  TypeParam lock(this->connect(), this->kPath);
  TypeParam other(this->connect(), this->kPath);
  EXPECT_FALSE(lock.is_held());
  {
    const std::lock_guard<TypeParam> guard(lock);
    EXPECT_TRUE(lock.is_held());
    EXPECT_GT(lock.fencing_token().zxid, 0);
    EXPECT_FALSE(other.try_lock());
    EXPECT_FALSE(other.is_held());
  }
  EXPECT_FALSE(lock.is_held());
  EXPECT_TRUE(other.try_lock_for(kLimit));
  EXPECT_TRUE(other.is_held());
  other.unlock();
}

TYPED_TEST(LockableTest, AUniqueLock_TakesAndGivesBack) {
  TypeParam lock(this->connect(), this->kPath);
  TypeParam other(this->connect(), this->kPath);
  std::unique_lock<TypeParam> guard(lock);
  EXPECT_TRUE(guard.owns_lock());
  std::unique_lock<TypeParam> second(other, std::try_to_lock);
  EXPECT_FALSE(second.owns_lock());
  EXPECT_FALSE(second.try_lock_for(100ms));
  guard.unlock();
  EXPECT_TRUE(second.try_lock_for(kLimit));
  EXPECT_TRUE(other.is_held());
}

TYPED_TEST(LockableTest, TwoLocksInOppositeOrders_DoNotDeadlock) {
  Connection& first = this->connect();
  Connection& second = this->connect();
  CriticalSection section;
  Crowd crowd(2, [&](int i) {
    Connection& connection = i == 0 ? first : second;
    TypeParam a(connection, "/a"), b(connection, "/b");
    for (int cycle = 0; cycle < 5; ++cycle) {
      TypeParam& x = i == 0 ? a : b;
      TypeParam& y = i == 0 ? b : a;
      const std::scoped_lock<TypeParam, TypeParam> both(x, y);
      EXPECT_TRUE(a.is_held());
      EXPECT_TRUE(b.is_held());
      section.enter();
      section.leave();
    }
  });
  crowd.join();
  EXPECT_EQ(section.entries(), 10);
  EXPECT_EQ(section.overlaps(), 0);
}

TYPED_TEST(LockableTest, ALostSession_IsReportedToTheThreadThatLocked) {
  Connection& connection = this->connect();
  TypeParam lock(connection, this->kPath);
  lock.lock();
  const FencingToken token = lock.fencing_token();
  CallCount lost;
  const Subscription subscription = lock.on_lost(lost.handler());
  this->expire_session(connection);
  ASSERT_TRUE(lost.wait());
  EXPECT_FALSE(lock.is_held());
  EXPECT_EQ(lock.fencing_token(), token);
  lock.unlock();
  lock.lock();
  EXPECT_TRUE(lock.is_held());
  EXPECT_GT(lock.fencing_token(), token);
  lock.unlock();
  EXPECT_EQ(lost.count(), 1);
}

TYPED_TEST(LockableTest, OneObjectSharedByTenThreads_LetsInOneAtATime) {
  TypeParam lock(this->connect(), this->kPath);
  this->expect_exclusion(10, 10, [&](int) -> TypeParam& { return lock; });
}

TYPED_TEST(LockableTest, TwoConnections_LetInOneAtATime) {
  TypeParam here(this->connect(), this->kPath);
  TypeParam there(this->connect(), this->kPath);
  this->expect_exclusion(8, 10, [&](int i) -> TypeParam& { return i % 2 == 0 ? here : there; });
}

TYPED_TEST(LockableTest, AHundredConnections_LetInOneAtATime) {
  std::vector<std::unique_ptr<TypeParam>> locks;
  std::vector<Connection*> connections;
  for (int i = 0; i < 100; ++i) connections.push_back(&this->begin_connect(this->options()));
  for (Connection* connection : connections) locks.push_back(std::make_unique<TypeParam>(*connection, this->kPath));
  this->expect_exclusion(100, 1, [&](int i) -> TypeParam& { return *locks[static_cast<std::size_t>(i)]; });
}

TYPED_TEST(LockableTest, ALockObjectThatIsDestroyedWhileLocked_Releases) {
  Connection& connection = this->connect();
  {
    TypeParam lock(connection, this->kPath);
    lock.lock();
  }
  EXPECT_TRUE(this->wait_for_nodes(this->kPath, 0));
}

}  // namespace
}  // namespace zkrecipes::testing
