// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/break_lock.h"

#include "tests/recipes/recipe_test.h"

namespace zkrecipes::testing {
namespace {

class BreakLockTest : public RecipeTest {};

TEST_F(BreakLockTest, TheHolderLosesItsHold_AndTheNextIsGranted) {
  Connection& stuck = connect();
  Connection& operating = connect();
  FairMutex mutex(stuck, kPath);
  const Hold hold = mutex.acquire();
  const CallCount lost;
  const Subscription subscription = hold.on_lost(lost.handler());
  FairMutex next(operating, kPath);
  PendingHold pending = next.acquire_async();
  ASSERT_TRUE(wait_for_waiters(operating, 1));
  break_lock(operating, hold.node(), hold.token());
  EXPECT_TRUE(get(pending).is_valid());
  EXPECT_TRUE(lost.wait());
  EXPECT_FALSE(hold.is_valid());
}

TEST_F(BreakLockTest, AnotherToken_ChangesNothing) {
  Connection& connection = connect();
  FairMutex mutex(connection, kPath);
  const Hold hold = mutex.acquire();
  FencingToken other = hold.token();
  --other.zxid;
  EXPECT_EQ(error_of([&] { break_lock(connection, hold.node(), other); }), ErrorCode::wrong_token);
  EXPECT_TRUE(node_exists(hold.node()));
  EXPECT_TRUE(hold.is_valid());
}

TEST_F(BreakLockTest, ANodeThatIsGone_IsNotHeld) {
  Connection& connection = connect();
  FairMutex mutex(connection, kPath);
  Hold hold = mutex.acquire();
  const std::string node = hold.node();
  hold.release();
  EXPECT_EQ(error_of([&] { break_lock(connection, node, hold.token()); }), ErrorCode::not_held);
  EXPECT_EQ(error_of([&] { break_lock(connection, "/no/such", hold.token()); }), ErrorCode::not_held);
}

TEST_F(BreakLockTest, ANodeThatIsNoLock_IsRefusedWhateverTheToken) {
  Connection& connection = connect();
  create_node("/config", "data");
  EXPECT_EQ(error_of([&] { break_lock(connection, "/config", {czxid_of("/config"), 0}); }), ErrorCode::unusable_path);
  EXPECT_TRUE(node_exists("/config"));
}

TEST_F(BreakLockTest, AnEphemeralNodeOfAnotherProgram_IsRefusedWhateverTheToken) {
  Connection& connection = connect();
  create_node("/brokers/ids");
  plain().create(full("/brokers/ids/1"), "host:9092", ZOO_EPHEMERAL);
  const FencingToken token{czxid_of("/brokers/ids/1"), 0};
  EXPECT_EQ(error_of([&] { break_lock(connection, "/brokers/ids/1", token); }), ErrorCode::unusable_path);
  EXPECT_TRUE(node_exists("/brokers/ids/1"));
  remove_node("/brokers/ids/1");
}

TEST_F(BreakLockTest, ASimpleLock_IsBrokenOnlyWithTheTokenOfItsHolder) {
  Connection& connection = connect();
  SimpleLock lock(connection, kPath);
  Hold first = lock.acquire();
  const FencingToken before = first.token();
  first.release();
  const Hold second = lock.acquire();
  EXPECT_EQ(error_of([&] { break_lock(connection, kPath, before); }), ErrorCode::wrong_token);
  EXPECT_TRUE(second.is_valid());
  break_lock(connection, kPath, second.token());
  EXPECT_FALSE(node_exists(kPath));
}

TEST_F(BreakLockTest, ADowngradedReader_IsKnownByTheTokenThatItsHoldHas) {
  Connection& connection = connect();
  ReadWriteLock lock(connection, kPath);
  const Hold read = lock.downgrade(lock.acquire_write());
  ASSERT_TRUE(wait_for_nodes(kPath, 1));
  const FencingToken of_the_node{czxid_of(read.node()), 0};
  ASSERT_NE(of_the_node, read.token());
  EXPECT_EQ(error_of([&] { break_lock(connection, read.node(), of_the_node); }), ErrorCode::wrong_token);
  break_lock(connection, read.node(), read.token());
  EXPECT_FALSE(node_exists(read.node()));
}

TEST_F(BreakLockTest, ALostReply_IsResolved) {
  Connection& holding = connect();
  Connection& operating = connect_by_proxy();
  FairMutex mutex(holding, kPath);
  const Hold hold = mutex.acquire();
  proxy().drop_reply(RequestKind::remove);
  break_lock(operating, hold.node(), hold.token());
  EXPECT_FALSE(node_exists(hold.node()));
}

TEST_F(BreakLockTest, ALostReplyAtASimpleLock_LeavesASuccessorAlone) {
  Connection& holding = connect();
  Connection& operating = connect_by_proxy();
  SimpleLock lock(holding, kPath);
  const Hold hold = lock.acquire();
  PendingHold next = lock.acquire_async();
  ASSERT_TRUE(wait_for_waiters(holding, 1));
  proxy().drop_reply(RequestKind::remove);
  proxy().observe([this](const Observed& seen) {
    if (seen.sort == Message::Sort::reply && seen.kind == RequestKind::remove) proxy().refuse(true);
  });
  Background breaks([&] { break_lock(operating, kPath, hold.token()); });
  const Hold successor = get(next);
  proxy().observe(nullptr);
  proxy().refuse(false);
  breaks.join();
  EXPECT_EQ(czxid_of(kPath), successor.token().zxid) << "the successor's node still stands";
}

TEST_F(BreakLockTest, TheDeadline_IsKept) {
  Connection& connection = connect_by_proxy();
  FairMutex mutex(connection, kPath);
  const Hold hold = mutex.acquire();
  proxy().hold_reply(RequestKind::get_data);
  EXPECT_EQ(error_of([&] { break_lock(connection, hold.node(), hold.token(), Clock::now() + kMoment); }),
            ErrorCode::timed_out);
  proxy().release_held();
  EXPECT_TRUE(node_exists(hold.node()));
}

TEST_F(BreakLockTest, BadPathsAndClosedConnections_AreRefused) {
  Connection& connection = connect();
  EXPECT_THROW(break_lock(connection, "node", {1, 0}), std::invalid_argument);
  EXPECT_THROW(remove_empty_lock(connection, "node"), std::invalid_argument);
  connection.close();
  EXPECT_THROW(break_lock(connection, kPath, {1, 0}), ConnectionClosed);
}

TEST_F(BreakLockTest, AnEmptyLockPath_IsRemovedAndAUsedOneIsNot) {
  Connection& connection = connect();
  FairMutex mutex(connection, kPath);
  Hold hold = mutex.acquire();
  EXPECT_FALSE(remove_empty_lock(connection, kPath));
  EXPECT_TRUE(hold.is_valid());
  hold.release();
  EXPECT_TRUE(remove_empty_lock(connection, kPath));
  EXPECT_FALSE(node_exists(kPath));
  EXPECT_TRUE(remove_empty_lock(connection, kPath)) << "there is none, which is what was wanted";
}

TEST_F(BreakLockTest, TheEmptyPathOfASemaphore_IsRemovedWithItsFolders) {
  Connection& connection = connect();
  const std::string leases = std::string(kPath) + "/leases", line = std::string(kPath) + "/locks";
  Semaphore semaphore(connection, kPath, 2);
  Hold hold = semaphore.acquire();
  ASSERT_TRUE(wait_for([&] { return plain().stat(full(leases))->dataLength > 0; })) << "marked";
  EXPECT_FALSE(remove_empty_lock(connection, kPath));
  EXPECT_FALSE(remove_empty_lock(connection, leases));
  EXPECT_TRUE(node_exists(line)) << "nothing is removed while it is in use";
  hold.release();
  ASSERT_TRUE(wait_for_nodes(kPath, 0));
  EXPECT_TRUE(remove_empty_lock(connection, kPath));
  EXPECT_FALSE(node_exists(kPath));

  semaphore.acquire().release();
  ASSERT_TRUE(wait_for_nodes(kPath, 0));
  EXPECT_TRUE(remove_empty_lock(connection, leases));
  EXPECT_FALSE(remove_empty_lock(connection, kPath)) << "any lock may be called locks";
  EXPECT_TRUE(remove_empty_lock(connection, line));
  EXPECT_TRUE(remove_empty_lock(connection, kPath));
}

TEST_F(BreakLockTest, FoldersBesideOtherThings_AreNotRemoved) {
  Connection& connection = connect();
  const std::string leases = std::string(kPath) + "/leases", line = std::string(kPath) + "/locks";
  for (const std::string& node : {std::string(kPath), leases, line}) create_node(node);
  create_node(std::string(kPath) + "/other");
  EXPECT_FALSE(remove_empty_lock(connection, kPath));
  remove_node(std::string(kPath) + "/other");
  plain().set(full(leases), "a note");
  EXPECT_FALSE(remove_empty_lock(connection, kPath)) << "with data of others";
  EXPECT_TRUE(node_exists(leases));
}

TEST_F(BreakLockTest, NodesThatAreNoEmptyLockPath_AreNotRemoved) {
  Connection& connection = connect();
  create_node("/config", "data");
  SimpleLock simple(connection, kPath);
  const Hold hold = simple.acquire();
  for (const char* node : {"/config", kPath}) {
    EXPECT_EQ(error_of([&] { remove_empty_lock(connection, node); }), ErrorCode::unusable_path) << node;
    EXPECT_TRUE(node_exists(node));
  }
}

TEST_F(BreakLockTest, APathThatBeginsToCountHolds_IsNotRemoved) {
  create_node(kPath);
  LockOptions counts;
  counts.version_token = true;
  FairMutex mutex(connect(), kPath, counts);
  Connection& operating = connect_by_proxy();
  ASSERT_TRUE(operating.wait_until_connected(10s));
  proxy().hold_reply(RequestKind::exists);  // the last look before the removal
  std::optional<std::error_code> error;
  {
    Background removing([&] { error = error_of([&] { remove_empty_lock(operating, kPath); }); });
    ASSERT_TRUE(proxy().wait_until_fired(10s));
    EXPECT_EQ(mutex.acquire().token().version, 1);
    ASSERT_TRUE(wait_for_nodes(kPath, 0));
    proxy().release_held();
  }
  EXPECT_FALSE(error) << "it was in use, so the call is false";
  EXPECT_EQ(mutex.acquire().token().version, 2) << "the count goes on";
}

TEST_F(BreakLockTest, ANodeWithDataThatMayNotBeRead_IsNotRemoved) {
  create_node("/config", "data");
  ACL all_but_read{ZOO_PERM_ALL & ~ZOO_PERM_READ, ZOO_ANYONE_ID_UNSAFE};
  const ACL_vector acl{1, &all_but_read};
  ASSERT_EQ(zoo_set_acl(plain().handle(), full("/config").c_str(), -1, &acl), ZOK);
  EXPECT_EQ(error_of([&] { remove_empty_lock(connect(), "/config"); }), ErrorCode::unusable_path);
  EXPECT_TRUE(plain().remove(full("/config")));
}

}  // namespace
}  // namespace zkrecipes::testing
