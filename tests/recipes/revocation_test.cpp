// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/revocation.h"

#include "tests/recipes/lock_types.h"
#include "tests/recipes/recipe_test.h"

namespace zkrecipes::testing {
namespace {

template <class Lock>
class RevocationTest : public ControlledRecipeTest {};

TYPED_TEST_SUITE(RevocationTest, LockTypes, LockTypeNames);

/// Options whose on_revoke counts, and remembers the node.
struct Revocations {
  CallCount calls;
  std::shared_ptr<Answer<std::string>> node = std::make_shared<Answer<std::string>>();
  LockOptions options() const {
    LockOptions result;
    result.on_revoke = [calls = calls, node = node](const std::string& name) {
      if (calls.count() == 0) node->handler()(name);
      calls.handler()();
    };
    return result;
  }
};

TYPED_TEST(RevocationTest, TheHolder_IsNotifiedAndMayIgnoreIt) {
  Revocations revocations;
  TypeParam lock(this->connect(), this->kPath, revocations.options());
  Connection& other = this->connect();
  Hold hold = lock.acquire();
  request_revoke(other, hold.node());
  EXPECT_EQ(revocations.node->template part<0>(), hold.node());
  EXPECT_TRUE(hold.is_valid());
  this->expect_token_is_that_of_the_node(hold);
  request_revoke(other, hold.node());
  EXPECT_TRUE(revocations.calls.wait(2));
  hold.release();
}

TYPED_TEST(RevocationTest, AWaiter_GetsTheLockWhenTheHolderGivesWay) {
  auto hold = std::make_shared<Hold>();
  LockOptions options;
  options.on_revoke = [hold](const std::string&) { *hold = Hold(); };
  TypeParam lock(this->connect(), this->kPath, options);
  Connection& waiting = this->connect();
  TypeParam other(waiting, this->kPath);
  *hold = lock.acquire();
  PendingHold pending = other.acquire_async();
  ASSERT_TRUE(this->wait_for_waiters(waiting, 1));
  request_revoke(waiting, hold->node());
  EXPECT_TRUE(this->get(pending).is_valid());
}

TYPED_TEST(RevocationTest, CuratorsSpelling_IsUnderstood) {
  Revocations revocations;
  TypeParam lock(this->connect(), this->kPath, revocations.options());
  const Hold hold = lock.acquire();
  this->plain().set(this->full(hold.node()), "something else");
  this->plain().set(this->full(hold.node()), "__REVOKE__");
  EXPECT_TRUE(revocations.calls.wait());
  EXPECT_EQ(revocations.calls.count(), 1);
}

TYPED_TEST(RevocationTest, ANodeDeletedUnderTheHolder_IsLostAtOnce) {
  Revocations revocations;
  TypeParam lock(this->connect(), this->kPath, revocations.options());
  const Hold hold = lock.acquire();
  // Seen by the watch, without waiting for a heartbeat; wait until it is set.
  CallCount lost;
  const Subscription subscription = hold.on_lost(lost.handler());
  this->remove_node(hold.node());
  EXPECT_TRUE(lost.wait());
  EXPECT_FALSE(hold.is_valid());
  EXPECT_EQ(revocations.calls.count(), 0);
}

TYPED_TEST(RevocationTest, AHoldThatWasReleasedMeanwhile_IsNotNotified) {
  Revocations revocations;
  Connection& connection = this->connect();
  Connection& other = this->connect();
  TypeParam lock(connection, this->kPath, revocations.options()), busy(connection, "/busy");
  Hold hold = lock.acquire();
  ASSERT_TRUE(this->wait_for_waiters(connection, 1)) << "the watch for revocations";
  Gate gate;
  PendingHold blocks_the_callbacks = busy.acquire_async();
  blocks_the_callbacks.on_ready([&](const AcquireResult&) { gate.pass(); });
  ASSERT_TRUE(gate.wait_until_reached());
  // The answer to this read is received after the watch event, so the watch has fired by then and is set again.
  request_revoke(other, hold.node());
  static_cast<void>(contenders(connection, this->kPath));
  ASSERT_TRUE(this->wait_for_waiters(connection, 1));
  hold.release();
  gate.open();
  connection.close();
  EXPECT_EQ(revocations.calls.count(), 0);
}

TYPED_TEST(RevocationTest, AnUnknownNode_IsNotHeld) {
  Connection& connection = this->connect();
  EXPECT_EQ(error_of([&] { request_revoke(connection, "/nobody/here"); }), make_error_code(ErrorCode::not_held));
  EXPECT_THROW(request_revoke(connection, "relative"), std::invalid_argument);
}

TYPED_TEST(RevocationTest, ANodeThatWasAskedInCuratorsSpelling_CanBeAskedAgain) {
  Revocations revocations;
  TypeParam lock(this->connect(), this->kPath, revocations.options());
  const Hold hold = lock.acquire();
  this->plain().set(this->full(hold.node()), "__REVOKE__");
  ASSERT_TRUE(revocations.calls.wait());
  request_revoke(this->connect(), hold.node());
  EXPECT_TRUE(revocations.calls.wait(2));
}

TYPED_TEST(RevocationTest, AWaitersNode_CanBeAskedToo) {
  if (!TypeParam::kFair) GTEST_SKIP() << "its waiters have no nodes";
  // The data of a waiting node says nothing about its predecessors: its successor lists again and continues to wait.
  Connection& waiting = this->connect();
  Connection& behind = this->connect();
  TypeParam a(this->connect(), this->kPath), b(waiting, this->kPath), c(behind, this->kPath);
  Hold hold = a.acquire();
  PendingHold second = b.acquire_async();
  ASSERT_TRUE(this->wait_for_waiters(waiting, 1));
  PendingHold third = c.acquire_async();
  ASSERT_TRUE(this->wait_for_waiters(behind, 1));
  for (const std::string& node : this->nodes_at(this->kPath)) this->plain().set(node, "__REVOKE__");
  ASSERT_TRUE(this->wait_for_waiters(waiting, 1));
  ASSERT_TRUE(this->wait_for_waiters(behind, 1));
  EXPECT_FALSE(second.ready());
  EXPECT_FALSE(third.ready());
  hold.release();
  this->get(second).release();
  this->get(third).release();
}

class RevocationOfOthersTest : public RecipeTest {};

TEST_F(RevocationOfOthersTest, AnEphemeralNodeOfAnotherProgram_KeepsItsData) {
  Connection& connection = connect();
  create_node("/brokers/ids");
  plain().create(full("/brokers/ids/1"), "host:9092", ZOO_EPHEMERAL);
  EXPECT_EQ(error_of([&] { request_revoke(connection, "/brokers/ids/1"); }), ErrorCode::unusable_path);
  EXPECT_EQ(SyncClient(connection).get("/brokers/ids/1").data, "host:9092");
  remove_node("/brokers/ids/1");
}

}  // namespace
}  // namespace zkrecipes::testing
