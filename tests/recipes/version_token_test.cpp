// SPDX-License-Identifier: Apache-2.0
// LockOptions::version_token: the holds of a lock counted in 32 bits.
#include "tests/recipes/recipe_test.h"

namespace zkrecipes::testing {
namespace {

LockOptions counting() {
  LockOptions options;
  options.version_token = true;
  return options;
}

class VersionTokenTest : public ControlledRecipeTest {};

TEST_F(VersionTokenTest, TheVersion_GrowsByOneFromHoldToHold) {
  FairMutex here(connect(), kPath, counting()), there(connect(), kPath, counting());
  for (int i = 1; i <= 6; ++i) {
    Hold hold = (i % 2 == 0 ? here : there).acquire();
    EXPECT_EQ(hold.token().version, i);
    expect_token_is_that_of_the_node(hold);
    hold.release();
  }
  EXPECT_EQ(plain().stat(full(kPath))->ephemeralOwner, 0) << "persistent, for the count must last";
}

TEST_F(VersionTokenTest, AWaiter_GetsTheNextVersion) {
  Connection& waiting = connect();
  FairMutex mutex(connect(), kPath, counting()), other(waiting, kPath, counting());
  Hold hold = mutex.acquire();
  PendingHold pending = other.acquire_async();
  ASSERT_TRUE(wait_for_waiters(waiting, 1));
  hold.release();
  const Hold next = get(pending);
  EXPECT_EQ(next.token().version, hold.token().version + 1);
  EXPECT_TRUE(next.is_valid());
}

TEST_F(VersionTokenTest, ManyThreads_NeverShareAVersion) {
  FairMutex mutex(connect(), kPath, counting());
  std::mutex guard;
  std::vector<int> versions;
  Crowd crowd(8, [&](int) {
    for (int i = 0; i < 5; ++i) {
      const Hold hold = mutex.acquire();
      const std::lock_guard<std::mutex> lock(guard);
      versions.push_back(hold.token().version);
    }
  });
  crowd.join();
  std::vector<int> expected;
  for (int i = 1; i <= 40; ++i) expected.push_back(i);
  EXPECT_EQ(versions, expected) << "in order of the grants";
}

TEST_F(VersionTokenTest, ALostReplyOfTheCount_IsCountedOnce) {
  FairMutex mutex(connect_by_proxy(), kPath, counting());
  mutex.acquire().release();
  for (int i = 2; i < 5; ++i) {
    proxy().drop_reply(RequestKind::set_data);
    Hold hold = mutex.acquire();
    EXPECT_TRUE(proxy().wait_until_fired(kLimit));
    EXPECT_EQ(hold.token().version, i);
    hold.release();
  }
}

TEST_F(VersionTokenTest, ACountThatSomebodyElseMoved_IsTakenUpFromThere) {
  FairMutex mutex(connect(), kPath, counting());
  mutex.acquire().release();
  plain().set(full(kPath), "by hand");
  Hold hold = mutex.acquire();
  EXPECT_EQ(hold.token().version, 3);
}

// All users of a path must agree on the option, because the server does not tell a container from a persistent node.
TEST_F(VersionTokenTest, APathThatWasMadeWithoutTheOption_CountsAsLongAsItLives) {
  Connection& connection = connect();
  FairMutex plain_mutex(connection, kPath);
  plain_mutex.acquire().release();
  EXPECT_EQ(plain().stat(full(kPath))->ephemeralOwner, 0);
  FairMutex mutex(connection, kPath, counting());
  for (int i = 1; i <= 3; ++i) EXPECT_EQ(mutex.acquire().token().version, i);
  EXPECT_EQ(plain_mutex.acquire().token().version, 0);
}

TEST_F(VersionTokenTest, AReadWriteLock_CountsItsWriters) {
  Connection& connection = connect();
  ReadWriteLock lock(connection, kPath, counting());
  lock.acquire_read().release();  // a reader that arrives first must not make a path that cannot count
  Hold write = lock.acquire_write();
  EXPECT_EQ(write.token().version, 1);
  const Hold read = lock.downgrade(std::move(write));
  EXPECT_EQ(read.token().version, 1) << "a downgraded hold keeps the writer's token";
  EXPECT_EQ(lock.acquire_read().token().version, 0);
}

TEST_F(VersionTokenTest, ARecursiveMutex_CountsOnce) {
  RecursiveFairMutex mutex(connect(), kPath, counting());
  mutex.lock();
  mutex.lock();
  EXPECT_EQ(mutex.fencing_token().version, 1);
  mutex.unlock();
  mutex.unlock();
  mutex.lock();
  EXPECT_EQ(mutex.fencing_token().version, 2);
  mutex.unlock();
}

TEST_F(VersionTokenTest, AnExpiredHolder_DoesNotDisturbTheCount) {
  Connection& expiring = connect();
  FairMutex mutex(expiring, kPath, counting()), other(connect(), kPath, counting());
  const Hold lost = mutex.acquire();
  expire_session(expiring);
  const Hold next = other.acquire();
  EXPECT_EQ(next.token().version, lost.token().version + 1);
  EXPECT_GT(next.token(), lost.token());
}

}  // namespace
}  // namespace zkrecipes::testing
