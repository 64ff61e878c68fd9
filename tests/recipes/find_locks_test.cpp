// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/find_locks.h"

#include "tests/recipes/recipe_test.h"

namespace zkrecipes::testing {
namespace {

class FindLocksTest : public RecipeTest {
 protected:
  /// "/a mutex 1+2" for a lock with one holder and two waiters.
  static std::vector<std::string> shown(const FoundLocks& found) {
    std::vector<std::string> result;
    for (const FoundLock& each : found.locks)
      result.push_back(each.path + " " + to_string(each.kind) + " " + std::to_string(each.holders) + "+" +
                       std::to_string(each.waiters));
    return result;
  }
};

TEST_F(FindLocksTest, LocksOfAllKinds_AreFoundInTheOrderOfTheirPaths) {
  Connection& connection = connect();
  FairMutex mutex(connection, "/app/mutex");
  ReadWriteLock readers(connection, "/app/deep/er/readers");
  ReadWriteLock writer(connection, "/app/writer");
  Semaphore semaphore(connection, "/app/semaphore", 2);
  SimpleLock simple(connection, "/app/simple");
  const Hold held = mutex.acquire();
  const PendingHold waiting = mutex.acquire_async();
  const Hold first = readers.acquire_read();
  const Hold second = readers.acquire_read();
  const PendingHold behind = readers.acquire_write_async();
  const PendingHold last = readers.acquire_read_async();
  const Hold writing = writer.acquire_write();
  const Hold permit = semaphore.acquire();
  const Hold alone = simple.acquire();
  ASSERT_TRUE(wait_for_waiters(connection, 3));
  EXPECT_THAT(
      shown(find_locks(connection, "/app")),
      ::testing::ElementsAre("/app/deep/er/readers read-write 2+2", "/app/mutex mutex 1+1",
                             "/app/semaphore semaphore 1+0", "/app/simple simple 1+0", "/app/writer read-write 1+0"));
  EXPECT_THAT(shown(find_locks(connection, "/app/mutex")), ::testing::ElementsAre("/app/mutex mutex 1+1"));
  EXPECT_TRUE(find_locks(connection, "/").complete);
  EXPECT_EQ(find_locks(connection, "/").locks.size(), 5U);
}

TEST_F(FindLocksTest, NodesThatAreNoLocks_AreNotTakenForThem) {
  Connection& connection = connect();
  create_node("/app/config", "data");
  create_node("/app/locks/of/the/door", "closed");
  plain().create(full("/app/member"), "host:port", ZOO_EPHEMERAL);
  FairMutex(connection, "/app/idle").acquire().release();
  EXPECT_TRUE(find_locks(connection, "/app").locks.empty());
  EXPECT_TRUE(find_locks(connection, "/no/such").locks.empty());
  plain().remove(full("/app/member"));
}

TEST_F(FindLocksTest, ALockBelowALock_IsFoundToo) {
  Connection& connection = connect();
  FairMutex above(connection, "/app"), below(connection, "/app/part");
  const Hold one = above.acquire(), two = below.acquire();
  EXPECT_THAT(shown(find_locks(connection, "/app")), ::testing::ElementsAre("/app mutex 1+0", "/app/part mutex 1+0"));
}

TEST_F(FindLocksTest, MutexesCalledAsTheFoldersOfASemaphore_AreMutexes) {
  Connection& connection = connect();
  FairMutex locks(connection, "/app/locks"), leases(connection, "/app/leases");
  const Hold one = locks.acquire();
  EXPECT_THAT(shown(find_locks(connection, "/app")), ::testing::ElementsAre("/app/locks mutex 1+0"));
  const Hold two = leases.acquire();
  EXPECT_THAT(shown(find_locks(connection, "/app")),
              ::testing::ElementsAre("/app/leases mutex 1+0", "/app/locks mutex 1+0"));
}

TEST_F(FindLocksTest, ASemaphoreWhoseLeasesMayNotBeListed_IsNotShownWithoutHolders) {
  const std::string secret = "me:secret";
  zoo_add_auth(plain().handle(), "digest", secret.data(), static_cast<int>(secret.size()), nullptr, nullptr);
  ConnectionOptions own = options();
  own.credentials = {{"digest", secret}};
  own.parent_acl = Acl::creator_all();
  create_node("/app");
  Connection& closed = connect(own);
  Semaphore semaphore(closed, "/app", 2);
  const Hold hold = semaphore.acquire();
  const FoundLocks found = find_locks(connect(), "/app");
  EXPECT_TRUE(found.locks.empty());
  EXPECT_THAT(found.unreadable, ::testing::UnorderedElementsAre("/app/leases", "/app/locks"));
}

TEST_F(FindLocksTest, TheHeadOfASemaphoresLine_IsAWaiter) {
  Connection& connection = connect();
  Semaphore semaphore(connection, "/app", 2);
  const Hold first = semaphore.acquire(), second = semaphore.acquire();
  ASSERT_TRUE(wait_for_nodes("/app", 2));
  const PendingHold both = semaphore.acquire_async(2);
  ASSERT_TRUE(wait_for_waiters(connection, 1));
  const PendingHold last = semaphore.acquire_async();
  ASSERT_TRUE(wait_for_waiters(connection, 2));
  ASSERT_EQ(children("/app/leases").size(), 4U);
  EXPECT_THAT(shown(find_locks(connection, "/app")), ::testing::ElementsAre("/app semaphore 2+2"));
}

TEST_F(FindLocksTest, ZookeepersOwnNode_IsOneLikeAnyOtherBelowAChroot) {
  Connection& connection = connect();
  FairMutex mutex(connection, "/zookeeper/lock");
  const Hold hold = mutex.acquire();
  EXPECT_THAT(shown(find_locks(connection, "/")), ::testing::ElementsAre("/zookeeper/lock mutex 1+0"));
}

TEST_F(FindLocksTest, AnAnswerThatDoesNotCome_EndsTheSearch) {
  Connection& connection = connect_by_proxy();
  create_node("/app/one");
  FindLimits limits;
  limits.answer = kMoment;
  EXPECT_TRUE(find_locks(connection, "/app", limits).complete);
  proxy().hold_reply(RequestKind::get_children);
  EXPECT_EQ(error_of([&] { find_locks(connection, "/app", limits); }), ErrorCode::timed_out);
  proxy().release_held();
  limits.answer = std::chrono::milliseconds::max();
  EXPECT_TRUE(find_locks(connection, "/app", limits).complete);
}

TEST_F(FindLocksTest, TheLimit_IsKeptAndSaid) {
  Connection& connection = connect();
  for (int n = 0; n < 9; ++n) create_node("/app/" + std::to_string(n));
  EXPECT_FALSE(find_locks(connection, "/app", FindLimits{9}).complete);
  EXPECT_TRUE(find_locks(connection, "/app", FindLimits{10}).complete);
  EXPECT_THROW(find_locks(connection, "/app", FindLimits{0}), std::invalid_argument);
}

TEST_F(FindLocksTest, WhatMayNotBeListed_IsNamed) {
  const std::string secret = "me:secret";
  // The fixture looks at all nodes from outside.
  zoo_add_auth(plain().handle(), "digest", secret.data(), static_cast<int>(secret.size()), nullptr, nullptr);
  ConnectionOptions own = options();
  own.credentials = {{"digest", secret}};
  own.parent_acl = Acl::creator_all();
  Connection& closed = connect(own);
  FairMutex mutex(closed, "/app/private");
  const Hold hold = mutex.acquire();
  Connection& other = connect();
  const FoundLocks found = find_locks(other, "/app");
  EXPECT_TRUE(found.locks.empty());
  EXPECT_THAT(found.unreadable, ::testing::ElementsAre("/app"));
  EXPECT_EQ(find_locks(closed, "/app").locks.size(), 1U);
}

TEST_F(FindLocksTest, TheDeadlineAndBadPaths_AreRefused) {
  Connection& connection = connect();
  EXPECT_THROW(find_locks(connection, "app"), std::invalid_argument);
  EXPECT_EQ(error_of([&] { find_locks(connection, "/", {}, Clock::now() - 1s); }), ErrorCode::timed_out);
}

}  // namespace
}  // namespace zkrecipes::testing
