// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/recursive_fair_mutex.h"

#include <mutex>

#include "tests/recipes/recipe_test.h"

namespace zkrecipes::testing {
namespace {

class RecursiveFairMutexTest : public ControlledRecipeTest {};

TEST_F(RecursiveFairMutexTest, ReEntry_KeepsOneNodeAndOneTokenAndAsksTheServerForNothing) {
  Connection& connection = connect_by_proxy();
  RecursiveFairMutex mutex(connection, kPath);
  FairMutex other(connect(), kPath);
  mutex.lock();
  const FencingToken token = mutex.fencing_token();
  ASSERT_TRUE(wait_for([&] { return load_of(connection).requests == 0; }));
  proxy().reset_counts();
  EXPECT_TRUE(mutex.try_lock());
  EXPECT_TRUE(mutex.try_lock_for(1s));
  EXPECT_EQ(mutex.depth(), 3);
  EXPECT_EQ(mutex.fencing_token(), token);
  mutex.unlock();
  mutex.unlock();
  EXPECT_EQ(mutex.depth(), 1);
  EXPECT_TRUE(mutex.is_held());
  EXPECT_EQ(proxy().counts().operations() - proxy().counts().of(RequestKind::exists), 0) << "but for heartbeats";
  EXPECT_FALSE(other.try_acquire()) << "held until the outermost unlock";
  mutex.unlock();
  EXPECT_EQ(mutex.depth(), 0);
  EXPECT_FALSE(mutex.is_held());
  EXPECT_TRUE(other.try_acquire_for(kLimit));
}

TEST_F(RecursiveFairMutexTest, AnotherThread_IsRefusedAndCannotUnlock) {
  RecursiveFairMutex mutex(connect(), kPath);
  const std::lock_guard<RecursiveFairMutex> guard(mutex);
  Background([&] {
    EXPECT_FALSE(mutex.try_lock());
    EXPECT_FALSE(mutex.try_lock_for(100ms));
    EXPECT_EQ(mutex.depth(), 0);
    mutex.unlock();
    EXPECT_TRUE(mutex.is_held());
  }).join();
  EXPECT_EQ(mutex.depth(), 1);
  EXPECT_TRUE(mutex.is_held());
}

TEST_F(RecursiveFairMutexTest, ThreadsOfOneObject_TakeTurns) {
  RecursiveFairMutex mutex(connect(), kPath);
  CriticalSection section;
  Crowd crowd(5, [&](int) {
    for (int i = 0; i < 5; ++i) {
      const std::lock_guard<RecursiveFairMutex> outer(mutex);
      const std::lock_guard<RecursiveFairMutex> inner(mutex);
      section.enter();
      section.leave();
    }
  });
  crowd.join();
  EXPECT_EQ(section.entries(), 25);
  EXPECT_EQ(section.overlaps(), 0);
}

TEST_F(RecursiveFairMutexTest, ReEntryIntoALostHold_SucceedsAndIsHeldTells) {
  Connection& connection = connect();
  RecursiveFairMutex mutex(connection, kPath);
  mutex.lock();
  CallCount lost;
  const Subscription subscription = mutex.on_lost(lost.handler());
  expire_session(connection);
  ASSERT_TRUE(lost.wait());
  EXPECT_TRUE(mutex.try_lock());
  EXPECT_EQ(mutex.depth(), 2);
  EXPECT_FALSE(mutex.is_held());
  mutex.unlock();
  mutex.unlock();
  mutex.lock();
  EXPECT_TRUE(mutex.is_held());
  mutex.unlock();
}

}  // namespace
}  // namespace zkrecipes::testing
