// SPDX-License-Identifier: Apache-2.0
// The promises of every lock when connections, sessions and servers are lost and nodes are deleted.
#include "tests/recipes/lock_types.h"
#include "tests/recipes/recipe_test.h"

namespace zkrecipes::testing {
namespace {

template <class Lock>
class LockOutageTest : public ControlledRecipeTest {
 protected:
  static bool is_simple() { return std::string(Lock::kName) == "SimpleLock"; }
};

TYPED_TEST_SUITE(LockOutageTest, LockTypes, LockTypeNames);

TYPED_TEST(LockOutageTest, AServerThatStopsAndReturns_ServesEverybody) {
  this->use_own_server();
  Connection& first = this->connect();
  Connection& second = this->connect();
  Connection& third = this->connect();
  TypeParam a(first, this->kPath), b(second, this->kPath), c(third, this->kPath);
  Hold hold = a.acquire();
  PendingHold waits = b.acquire_async();
  ASSERT_TRUE(this->wait_for_waiters(second, 1));
  PendingHold waits_too = c.acquire_async();
  ASSERT_TRUE(this->wait_for_waiters(third, 1));
  this->server().stop();
  ASSERT_TRUE(this->wait_for_state(first, ConnectionState::suspended));
  EXPECT_FALSE(waits.ready());
  EXPECT_FALSE(waits_too.ready());
  this->server().restart();
  hold.release();
  ASSERT_TRUE(wait_for([&] { return waits.ready() || waits_too.ready(); }));
  PendingHold& earlier = waits.ready() ? waits : waits_too;
  PendingHold& later = waits.ready() ? waits_too : waits;
  EXPECT_FALSE(later.ready());
  this->get(earlier).release();
  this->get(later).release();
}

TYPED_TEST(LockOutageTest, SessionExpiry_FreesTheNextWaiter) {
  Connection& holding = this->connect();
  Connection& waiting = this->connect();
  TypeParam lock(holding, this->kPath);
  TypeParam other(waiting, this->kPath);
  Hold hold = lock.acquire();
  const FencingToken token = hold.token();
  CallCount lost;
  const Subscription subscription = hold.on_lost(lost.handler());
  PendingHold pending = other.acquire_async();
  ASSERT_TRUE(this->wait_for_waiters(waiting, 1));

  this->expire_session(holding);
  const Hold next = this->get(pending);
  EXPECT_TRUE(next.is_valid());
  EXPECT_GT(next.token(), token);
  ASSERT_TRUE(lost.wait());
  EXPECT_FALSE(hold.is_valid());
  EXPECT_LE(hold.valid_until(), Clock::now());
  EXPECT_EQ(hold.token(), token);
  EXPECT_TRUE(hold) << "lost, not released";
  ASSERT_TRUE(this->wait_for_state(holding, ConnectionState::connected));
  EXPECT_FALSE(hold.is_valid()) << "a hold never becomes valid again";
  EXPECT_EQ(error_of([&] { hold.release(); }), make_error_code(ErrorCode::session_lost));
  EXPECT_TRUE(next.is_valid()) << "the release of a lost hold must not touch the next one's";
  EXPECT_EQ(lost.count(), 1);
}

TYPED_TEST(LockOutageTest, AWaiterWhoseSessionExpires_RejoinsAtTheBack) {
  Connection& holding = this->connect();
  Connection& waiting = this->connect();
  Connection& behind = this->connect();
  TypeParam lock(holding, this->kPath), other(waiting, this->kPath), last(behind, this->kPath);
  Hold hold = lock.acquire();
  PendingHold pending = other.acquire_async();
  ASSERT_TRUE(this->wait_for_waiters(waiting, 1));
  PendingHold follower = last.acquire_async();
  ASSERT_TRUE(this->wait_for_waiters(behind, 1));
  const std::int64_t old_session = waiting.session_id();
  this->expire_session(waiting);
  ASSERT_TRUE(wait_for([&] { return waiting.session_id() != old_session && waiting.session_id() != 0; }));
  ASSERT_TRUE(this->wait_for_waiters(waiting, 1));
  ASSERT_TRUE(this->wait_for_waiters(behind, 1));
  EXPECT_FALSE(pending.ready());
  EXPECT_FALSE(follower.ready());
  hold.release();
  if (TypeParam::kFair) {
    this->get(follower).release();
    this->get(pending).release();
  } else {
    ASSERT_TRUE(wait_for([&] { return pending.ready() || follower.ready(); }));
    this->get(pending.ready() ? pending : follower).release();
  }
}

TYPED_TEST(LockOutageTest, ASessionThatExpiresWhileSuspended_TakesHoldAndPlaceWithIt) {
  Connection& broken = this->connect_by_proxy();
  TypeParam lock(broken, this->kPath);
  TypeParam elsewhere(broken, "/elsewhere");
  TypeParam other(this->connect(), "/elsewhere");
  Hold hold = lock.acquire();
  Hold blocker = other.acquire();
  PendingHold waiter = elsewhere.acquire_async();
  ASSERT_TRUE(this->wait_for_waiters(broken, 1));
  CallCount lost;
  const Subscription subscription = hold.on_lost(lost.handler());

  const std::int64_t session = broken.session_id();
  this->proxy().refuse(true);
  ASSERT_TRUE(this->wait_for_state(broken, ConnectionState::suspended));
  EXPECT_TRUE(hold.is_valid()) << "suspended is not lost";
  this->server().expire_session(session);
  this->proxy().refuse(false);

  ASSERT_TRUE(lost.wait());
  EXPECT_FALSE(hold.is_valid());
  ASSERT_TRUE(this->wait_for_waiters(broken, 1)) << "the waiter has rejoined";
  blocker.release();
  const Hold granted = this->get(waiter);
  EXPECT_TRUE(granted.is_valid());
  this->expect_token_is_that_of_the_node(granted);
  EXPECT_EQ(this->nodes_at("/elsewhere").size(), 1U);
  EXPECT_EQ(lost.count(), 1);
}

TYPED_TEST(LockOutageTest, ATimedAcquireWhileDisconnected_ReturnsInTimeAndLeavesNothing) {
  Connection& broken = this->connect_by_proxy();
  TypeParam lock(broken, this->kPath);
  this->proxy().refuse(true);
  ASSERT_TRUE(this->wait_for_state(broken, ConnectionState::suspended));
  const auto before = Clock::now();
  EXPECT_FALSE(lock.try_acquire_for(300ms));
  EXPECT_GE(Clock::now() - before, 300ms);
  EXPECT_LT(Clock::now() - before, 10s);
  this->proxy().refuse(false);
  EXPECT_TRUE(lock.try_acquire_for(kLimit));
}

TYPED_TEST(LockOutageTest, ATimedAcquireWhoseCreateReachedTheServer_LeavesNothing) {
  Connection& broken = this->connect_by_proxy();
  TypeParam lock(broken, this->kPath);
  lock.acquire().release();  // the parents are there
  this->proxy().black_hole(Direction::to_client);
  EXPECT_FALSE(lock.try_acquire_for(300ms));
  ASSERT_TRUE(this->wait_for_nodes(this->kPath, 1)) << "the server has got it";
  this->proxy().heal();
  EXPECT_TRUE(this->wait_for_nodes(this->kPath, 0));
}

TYPED_TEST(LockOutageTest, AHeldNodeThatSomebodyDeletes_IsLost) {
  Connection& holding = this->connect(this->options(6s));
  TypeParam lock(holding, this->kPath);
  TypeParam other(this->connect(), this->kPath);
  Hold hold = lock.acquire();
  CallCount lost;
  const Subscription subscription = hold.on_lost(lost.handler());
  this->remove_node(hold.node());
  const Hold next = other.acquire();
  ASSERT_TRUE(lost.wait());
  EXPECT_FALSE(hold.is_valid());
  EXPECT_GT(next.token(), hold.token());
  hold = Hold();
  ASSERT_TRUE(this->wait_for_waiters(holding, 0));
  EXPECT_TRUE(this->node_exists(next.node())) << "the release of a lost hold must not hit the next holder's node";
  EXPECT_EQ(lost.count(), 1);
}

TYPED_TEST(LockOutageTest, ALostHoldOfTheSameSession_IsReleasedWithoutHarmToTheNext) {
  Connection& connection = this->connect(this->options(6s));
  TypeParam lock(connection, this->kPath);
  Hold hold = lock.acquire();
  this->remove_node(hold.node());
  ASSERT_TRUE(wait_for([&] { return !hold.is_valid(); }));
  const Hold next = lock.acquire();
  EXPECT_EQ(error_of([&] { hold.release(); }), make_error_code(ErrorCode::session_lost));
  EXPECT_TRUE(this->node_exists(next.node()));
  EXPECT_TRUE(next.is_valid());
}

TYPED_TEST(LockOutageTest, AWaitingNodeThatSomebodyDeletes_Rejoins) {
  if (this->is_simple()) GTEST_SKIP() << "its waiters have no nodes";
  Connection& waiting = this->connect(this->options(6s));
  TypeParam lock(this->connect(), this->kPath);
  TypeParam other(waiting, this->kPath);
  Hold hold = lock.acquire();
  PendingHold pending = other.acquire_async();
  ASSERT_TRUE(this->wait_for_waiters(waiting, 1));
  const auto mine = [&] {
    std::vector<std::string> nodes;
    for (const std::string& node : this->nodes_at(this->kPath))
      if (this->plain().stat(node) && this->plain().stat(node)->ephemeralOwner == waiting.session_id())
        nodes.push_back(node);
    return nodes;
  };
  const auto before = mine();
  ASSERT_FALSE(before.empty());
  for (const std::string& node : before) this->plain().remove(node);
  ASSERT_TRUE(wait_for([&] { return mine().size() == before.size(); })) << "rejoined";
  ASSERT_TRUE(this->wait_for_waiters(waiting, 1));
  EXPECT_FALSE(pending.ready());
  hold.release();
  EXPECT_TRUE(this->get(pending).is_valid());
}

TYPED_TEST(LockOutageTest, AReleaseWhileDisconnected_ReturnsAtOnceAndHappensLater) {
  Connection& broken = this->connect_by_proxy();
  TypeParam lock(broken, this->kPath);
  TypeParam other(this->connect(), this->kPath);
  auto hold = std::make_unique<Hold>(lock.acquire());
  PendingHold pending = other.acquire_async();
  this->proxy().refuse(true);
  ASSERT_TRUE(this->wait_for_state(broken, ConnectionState::suspended));
  const auto before = Clock::now();
  hold.reset();
  EXPECT_LT(Clock::now() - before, 5s) << "no wait for the network";
  EXPECT_FALSE(pending.ready());
  this->proxy().refuse(false);
  EXPECT_TRUE(this->get(pending).is_valid());
}

TYPED_TEST(LockOutageTest, ASecondRelease_IsHarmless) {
  TypeParam lock(this->connect(), this->kPath);
  Hold hold = lock.acquire();
  hold.release();
  const Hold next = lock.acquire();
  hold.release();
  EXPECT_TRUE(next.is_valid());
  EXPECT_TRUE(this->node_exists(next.node()));
}

TYPED_TEST(LockOutageTest, AReleaseOfANodeThatIsAlreadyGone_SucceedsUnlessTheLossWasNoticed) {
  TypeParam lock(this->connect(this->options(60s)), this->kPath);
  Hold hold = lock.acquire();
  const CallCount lost;
  const Subscription subscription = hold.on_lost(lost.handler());
  this->remove_node(hold.node());
  const auto error = error_of([&] { hold.release(); });
  EXPECT_FALSE(hold);
  if (!error) return;
  // A heartbeat has asked after the node in that moment.
  EXPECT_EQ(*error, ErrorCode::session_lost);
  EXPECT_TRUE(lost.wait());
}

TYPED_TEST(LockOutageTest, Close_EndsEverybodyWithConnectionClosed) {
  Connection& closing = this->connect_by_proxy();
  TypeParam lock(closing, this->kPath);
  TypeParam busy(closing, "/busy");
  TypeParam stuck(closing, "/stuck");
  Hold hold = lock.acquire();
  CallCount lost;
  const Subscription subscription = hold.on_lost(lost.handler());
  std::atomic<int> refused{0};
  const auto expect_closed = [&](auto&& action) {
    EXPECT_THROW(action(), ConnectionClosed);
    ++refused;
  };
  {
    Hold blocker = busy.acquire();
    PendingHold pending = busy.acquire_async();
    ASSERT_TRUE(this->wait_for_waiters(closing, 1));
    Background waits([&] { expect_closed([&] { static_cast<void>(busy.acquire()); }); });
    ASSERT_TRUE(this->wait_for_waiters(closing, 2));
    this->proxy().hold_reply(RequestKind::create);
    Background creates([&] { expect_closed([&] { stuck.lock(); }); });
    ASSERT_TRUE(this->proxy().wait_until_fired(kLimit));
    Background closer([&] { closing.close(); });
    ASSERT_TRUE(this->wait_for_state(closing, ConnectionState::closed));
    this->proxy().release_held();
    EXPECT_THROW(static_cast<void>(this->get(pending)), ConnectionClosed);
  }
  EXPECT_EQ(refused, 2);
  EXPECT_FALSE(hold.is_valid());
  ASSERT_TRUE(lost.wait());
  expect_closed([&] { static_cast<void>(lock.acquire()); });
  expect_closed([&] { static_cast<void>(lock.try_acquire()); });
  expect_closed([&] { static_cast<void>(lock.try_acquire_for(1s)); });
  expect_closed([&] { static_cast<void>(lock.acquire_async()); });
  expect_closed([&] { hold.release(); });
  EXPECT_EQ(lost.count(), 1);
}

TYPED_TEST(LockOutageTest, ALockThatOutlivesItsConnection_IsRefused) {
  Connection& closing = this->connect();
  TypeParam lock(closing, this->kPath);
  Hold hold = lock.acquire();
  PendingHold pending = lock.acquire_async();
  this->disconnect(closing);
  EXPECT_TRUE(this->wait_for_nodes(this->kPath, 0));
  EXPECT_FALSE(hold.is_valid());
  EXPECT_THROW(static_cast<void>(this->get(pending)), ConnectionClosed);
  EXPECT_THROW(static_cast<void>(lock.acquire()), ConnectionClosed);
}

}  // namespace
}  // namespace zkrecipes::testing
