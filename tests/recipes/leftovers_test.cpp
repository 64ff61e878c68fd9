// SPDX-License-Identifier: Apache-2.0
// The nodes that each kind of lock has while it is held, and those that it leaves: the table of docs/leftovers.md.
#include "tests/recipes/lock_types.h"
#include "tests/recipes/recipe_test.h"

namespace zkrecipes::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kLock = "/team/lock";

/// The nodes at and below a path, each with its type as far as clients can see it: containers look persistent.
struct Nodes {
  std::vector<std::string> lasting;
  std::vector<std::string> ephemeral;
};

class LeftoversTest : public ControlledRecipeTest {
 protected:
  Nodes nodes_below(const std::string& path) {
    Nodes nodes;
    collect(path, nodes);
    return nodes;
  }
  /// A server that looks for empty containers so often that a test can wait for it.
  void use_server_that_tidies_up() {
    ServerOptions options;
    options.container_check_interval = 50ms;
    use_own_server(options);
  }

 private:
  void collect(const std::string& path, Nodes& nodes) {
    const auto stat = plain().stat(full(path));
    if (!stat) return;
    (stat->ephemeralOwner != 0 ? nodes.ephemeral : nodes.lasting).push_back(path);
    for (const std::string& child : children(path)) collect(path + "/" + child, nodes);
  }
};

TEST_F(LeftoversTest, QueueLocks_LeaveOneNodeForThePath) {
  Connection& connection = connect();
  FairMutex mutex(connection, kLock);
  ReadWriteLock lock(connection, "/team/catalogue");
  {
    const Hold hold = mutex.acquire(), reading = lock.acquire_read();
    EXPECT_THAT(nodes_below(kLock).lasting, ElementsAre(kLock));
    EXPECT_THAT(nodes_below(kLock).ephemeral, ElementsAre(hold.node()));
    EXPECT_THAT(nodes_below("/team/catalogue").ephemeral, ElementsAre(reading.node()));
  }
  ASSERT_TRUE(wait_for_nodes("/team", 0));
  EXPECT_THAT(nodes_below("/team").lasting, ElementsAre("/team", "/team/catalogue", kLock));
}

TEST_F(LeftoversTest, ASemaphore_LeavesThreeNodes) {
  Connection& connection = connect();
  Semaphore semaphore(connection, kLock, 3);
  {
    const Hold permits = semaphore.acquire(2);
    ASSERT_TRUE(wait_for_nodes(kLock, 2)) << "one for each permit; the place in line is given back";
  }
  ASSERT_TRUE(wait_for_nodes(kLock, 0));
  EXPECT_THAT(nodes_below(kLock).lasting,
              ElementsAre(kLock, std::string(kLock) + "/leases", std::string(kLock) + "/locks"));
}

TEST_F(LeftoversTest, ASimpleLock_LeavesOnlyTheParentsOfItsPath) {
  SimpleLock lock(connect(), kLock);
  {
    const Hold hold = lock.acquire();
    EXPECT_THAT(nodes_below(kLock).ephemeral, ElementsAre(kLock));
  }
  ASSERT_TRUE(wait_for_nodes("/team", 0));
  EXPECT_THAT(nodes_below("/team").lasting, ElementsAre("/team"));
}

TEST_F(LeftoversTest, TriesThatFindTheLockBusyAndQuestions_LeaveNothing) {
  Connection& connection = connect();
  FairMutex mutex(connection, kLock);
  EXPECT_THAT(contenders(connection, kLock), IsEmpty());
  EXPECT_FALSE(holder(connection, kLock));
  EXPECT_FALSE(node_exists("/team"));
  const Hold hold = mutex.acquire();
  EXPECT_FALSE(mutex.try_acquire());
  EXPECT_EQ(nodes_below(kLock).ephemeral.size(), 1U);
}

TEST_F(LeftoversTest, ARetainedLock_KeepsItsNodeForTheTime) {
  LockOptions retained;
  retained.retain = 1h;
  Connection& connection = connect();
  auto mutex = std::make_unique<FairMutex>(connection, kLock, retained);
  mutex->lock();
  mutex->unlock();
  EXPECT_EQ(nodes_below(kLock).ephemeral.size(), 1U);
  mutex.reset();
  EXPECT_TRUE(wait_for_nodes(kLock, 0));
}

TEST_F(LeftoversTest, TheServerRemovesEmptyFoldersFromTheBottomUp) {
  use_server_that_tidies_up();
  Connection& connection = connect();
  FairMutex(connection, "/team/mutex").acquire().release();
  ReadWriteLock(connection, "/team/catalogue").acquire_write().release();
  Semaphore(connection, "/team/printers", 2).acquire().release();
  SimpleLock(connection, "/team/nightly").acquire().release();
  EXPECT_TRUE(wait_for([&] { return !node_exists("/team"); }));
}

TEST_F(LeftoversTest, FoldersOfALockThatIsHeld_Stay) {
  use_server_that_tidies_up();
  Connection& connection = connect();
  Semaphore semaphore(connection, "/team/printers", 2);
  FairMutex mutex(connection, "/team/mutex");
  const Hold permit = semaphore.acquire(), hold = mutex.acquire();
  EXPECT_TRUE(wait_for([&] { return !node_exists("/team/printers/locks"); })) << "nobody stands in line";
  EXPECT_TRUE(node_exists("/team/printers/leases"));
  EXPECT_TRUE(permit.is_valid());
  EXPECT_TRUE(hold.is_valid());
  EXPECT_TRUE(semaphore.try_acquire()) << "the folder is made again";
}

TEST_F(LeftoversTest, WithVersionToken_ThePathStaysForEver) {
  use_server_that_tidies_up();
  Connection& connection = connect();
  LockOptions counted;
  counted.version_token = true;
  FairMutex(connection, "/counted/mutex", counted).acquire().release();
  FairMutex(connection, "/other/mutex").acquire().release();
  EXPECT_TRUE(wait_for([&] { return !node_exists("/other"); }));
  EXPECT_THAT(nodes_below("/counted").lasting, ElementsAre("/counted", "/counted/mutex"));
}

// As left by a process that died between the two creates. By default no server removes it.
TEST_F(LeftoversTest, AFolderThatNeverHadAChild_Stays) {
  use_server_that_tidies_up();
  Connection& connection = connect();
  plain().create(full("/unused"), {}, ZOO_CONTAINER);
  FairMutex(connection, "/used").acquire().release();
  EXPECT_TRUE(wait_for([&] { return !node_exists("/used"); }));
  EXPECT_TRUE(node_exists("/unused"));
}

}  // namespace
}  // namespace zkrecipes::testing
