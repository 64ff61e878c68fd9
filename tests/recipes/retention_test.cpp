// SPDX-License-Identifier: Apache-2.0
// LockOptions::retain: the node that stays between two holds of one lock object.
#include <algorithm>
#include <boost/thread/thread.hpp>
#include <mutex>
#include <random>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/recipes/recipe_test.h"

namespace zkrecipes::testing {
namespace {

constexpr std::chrono::milliseconds kLong = 10min;

LockOptions retained(std::chrono::milliseconds how_long = kLong) {
  LockOptions options;
  options.retain = how_long;
  return options;
}

class RetentionTest : public ControlledRecipeTest {
 protected:
  /// Leaves an idle node, with everything that listens for newcomers in place. Returns its token.
  static FencingToken make_idle(FairMutex& mutex, Connection& connection) {
    const Hold hold = mutex.acquire();
    EXPECT_TRUE(wait_for_waiters(connection, 1)) << "the watch of the children";
    return hold.token();
  }
  bool stays(std::size_t nodes) {
    return !wait_for([&] { return nodes_at(kPath).size() != nodes; }, kMoment);
  }
};

TEST_F(RetentionTest, TheNextAcquire_TakesTheNodeOverWithoutARequest) {
  Connection& connection = connect_by_proxy(60s);
  FairMutex mutex(connection, kPath, retained());
  const FencingToken token = make_idle(mutex, connection);
  EXPECT_EQ(nodes_at(kPath).size(), 1U);
  EXPECT_FALSE(mutex.is_held());
  // Whatever it asked for now would not be answered.
  proxy().black_hole();
  proxy().reset_counts();
  for (int i = 0; i < 100; ++i) {
    mutex.lock();
    EXPECT_TRUE(mutex.is_held());
    EXPECT_EQ(mutex.fencing_token(), token);
    mutex.unlock();
    Hold hold = mutex.acquire();
    EXPECT_EQ(hold.token(), token);
    EXPECT_EQ(hold.cost().requests, 0);
    hold = Hold();
    EXPECT_TRUE(mutex.try_acquire().has_value());
    PendingHold pending = mutex.acquire_async();
    EXPECT_TRUE(pending.ready());
    EXPECT_TRUE(pending.get().is_valid());
  }
  EXPECT_EQ(proxy().counts().operations(), 0);
  proxy().heal();
}

TEST_F(RetentionTest, ANewcomer_GetsAnIdleLockAtOnce) {
  Connection& connection = connect();
  FairMutex mutex(connection, kPath, retained());
  const FencingToken token = make_idle(mutex, connection);
  FairMutex other(connect(), kPath);
  AcquireResult newcomer = other.try_acquire_for(kLimit);
  ASSERT_TRUE(newcomer) << "the idle node stayed in its way";
  EXPECT_GT(newcomer->token(), token);
  EXPECT_EQ(mutex.try_acquire().status(), AcquireStatus::busy);
  newcomer->release();
  Hold again = mutex.acquire();
  EXPECT_GT(again.token().zxid, token.zxid) << "another node";
  again.release();
}

TEST_F(RetentionTest, ANewcomer_GetsALockThatIsInUseWhenThatIsUnlocked) {
  Connection& connection = connect();
  FairMutex mutex(connection, kPath, retained());
  make_idle(mutex, connection);
  mutex.lock();
  FairMutex other(connect(), kPath);
  PendingHold newcomer = other.acquire_async();
  ASSERT_TRUE(wait_for_nodes(kPath, 2));
  EXPECT_FALSE(newcomer.wait_for(kMoment));
  EXPECT_TRUE(mutex.is_held());
  mutex.unlock();
  EXPECT_TRUE(get(newcomer).is_valid());
}

TEST_F(RetentionTest, ALockThatOthersWaitFor_IsRemovedAtTheReleaseAndNotOnlyWhenTheyAreNoticed) {
  FairMutex holder(connect(), kPath);
  Hold hold = holder.acquire();
  Connection& connection = connect_by_proxy();
  FairMutex mutex(connection, kPath, retained());
  PendingHold next = mutex.acquire_async();
  ASSERT_TRUE(wait_for_waiters(connection, 1));
  FairMutex other(connect(), kPath);
  PendingHold last = other.acquire_async();
  ASSERT_TRUE(wait_for_nodes(kPath, 3));
  proxy().hold_reply(RequestKind::get_children);
  hold.release();
  get(next) = Hold();
  EXPECT_TRUE(get(last).is_valid());
  proxy().clear_faults();
  proxy().release_held();
}

TEST_F(RetentionTest, AnotherThreadOfTheSameObject_IsANewcomerToo) {
  Connection& connection = connect();
  FairMutex mutex(connection, kPath, retained());
  Hold hold = mutex.acquire();
  PendingHold second = mutex.acquire_async();
  ASSERT_TRUE(wait_for_nodes(kPath, 2));
  hold = Hold();
  EXPECT_TRUE(get(second).is_valid());
}

TEST_F(RetentionTest, AnIdleNode_IsRemovedWhenItsTimeIsOver) {
  Connection& connection = connect();
  FairMutex mutex(connection, kPath, retained(300ms));
  const FencingToken token = make_idle(mutex, connection);
  // Each release begins the time again.
  const auto until = Clock::now() + 600ms;
  while (Clock::now() < until) {
    Hold hold = mutex.acquire();
    ASSERT_EQ(hold.token(), token);
  }
  EXPECT_TRUE(wait_for_nodes(kPath, 0));
  EXPECT_GE(Clock::now(), until);
  Hold again = mutex.acquire();
  EXPECT_GT(again.token(), token);
}

TEST_F(RetentionTest, DestroyingTheLockObject_RemovesTheIdleNode) {
  Connection& connection = connect();
  auto mutex = std::make_unique<FairMutex>(connection, kPath, retained());
  make_idle(*mutex, connection);
  mutex = nullptr;
  EXPECT_TRUE(wait_for_nodes(kPath, 0));
}

TEST_F(RetentionTest, AHoldThatOutlivesTheLockObject_IsRemovedByItsRelease) {
  Connection& connection = connect();
  auto mutex = std::make_unique<FairMutex>(connection, kPath, retained());
  make_idle(*mutex, connection);
  Hold hold = mutex->acquire();
  PendingHold pending = mutex->acquire_async();
  mutex = nullptr;
  EXPECT_TRUE(hold.is_valid());
  hold = Hold();
  hold = get(pending);
  EXPECT_TRUE(hold.is_valid());
  hold = Hold();
  EXPECT_TRUE(wait_for_nodes(kPath, 0));
}

TEST_F(RetentionTest, ClosingTheConnection_RemovesTheIdleNodeAlsoOnAHandleOfTheProgram) {
  Connection& connection = connect();
  FairMutex mutex(connection, kPath, retained());
  make_idle(mutex, connection);
  connection.close();
  EXPECT_TRUE(wait_for_nodes(kPath, 0));
  EXPECT_THROW(static_cast<void>(mutex.acquire()), ConnectionClosed);

  PlainClient program(server().address(), 20s);
  Connection borrowed(program.handle());
  ASSERT_TRUE(borrowed.wait_until_connected(kLimit));
  FairMutex second(borrowed, full(kPath), retained());
  { const Hold hold = second.acquire(); }
  EXPECT_EQ(nodes_at(kPath).size(), 1U);
  borrowed.close();
  EXPECT_TRUE(wait_for_nodes(kPath, 0));
}

TEST_F(RetentionTest, AConfirmedRelease_RemovesTheNode) {
  FairMutex mutex(connect(), kPath, retained());
  Hold hold = mutex.acquire();
  hold.release();
  EXPECT_EQ(nodes_at(kPath).size(), 0U);
  hold = mutex.acquire();
  EXPECT_TRUE(hold.release_for(kLimit));
  EXPECT_EQ(nodes_at(kPath).size(), 0U);
}

TEST_F(RetentionTest, AHoldWhoseNodeWasTakenOver_StaysReleased) {
  FairMutex mutex(connect(), kPath, retained());
  Hold hold = mutex.acquire();
  const CallCount lost;
  const Subscription subscription = hold.on_lost(lost.handler());
  Hold moved = std::move(hold);
  moved = mutex.try_acquire_for(0ms) ? Hold() : Hold();  // released by the assignment
  EXPECT_FALSE(moved.is_valid());
  const Hold second = mutex.acquire();
  EXPECT_TRUE(second.is_valid());
  EXPECT_EQ(lost.count(), 0);
}

TEST_F(RetentionTest, ALostSession_EndsTheIdleNodeWhichIsNotTakenOver) {
  Connection& connection = connect();
  FairMutex mutex(connection, kPath, retained());
  const FencingToken token = make_idle(mutex, connection);
  expire_session(connection);
  AcquireResult hold = mutex.try_acquire_for(kLimit);
  ASSERT_TRUE(hold);
  // Until the connection has heard of it, the lease is still valid, and the idle node is taken over and then lost.
  if (hold->token() == token) {
    EXPECT_TRUE(wait_for([&] { return !hold->is_valid(); }));
    *hold = Hold();
    hold = mutex.try_acquire_for(kLimit);
    ASSERT_TRUE(hold);
  }
  EXPECT_GT(hold->token(), token);
  expect_token_is_that_of_the_node(*hold);
}

TEST_F(RetentionTest, WithoutALease_TheIdleNodeIsNotTakenOver) {
  use_own_server();
  Connection& connection = connect_by_proxy(2s);
  FairMutex mutex(connection, kPath, retained());
  make_idle(mutex, connection);
  proxy().black_hole();
  ASSERT_TRUE(wait_for([&] {
    const AcquireResult hold = mutex.try_acquire();
    return !hold;
  }));
  EXPECT_EQ(mutex.try_acquire_for(100ms).status(), AcquireStatus::not_connected);
  proxy().heal();
  EXPECT_TRUE(mutex.try_acquire_for(kLimit));
}

TEST_F(RetentionTest, TheLossOfTheNode_IsAnnouncedToTheHoldThatHasTakenItOver) {
  Connection& connection = connect();
  FairMutex mutex(connection, kPath, retained());
  make_idle(mutex, connection);
  { const Hold before = mutex.acquire(); }
  Hold hold = mutex.acquire();
  const CallCount lost;
  const Subscription subscription = hold.on_lost(lost.handler());
  expire_session(connection);
  EXPECT_TRUE(lost.wait());
  EXPECT_FALSE(hold.is_valid());
}

TEST_F(RetentionTest, ANodeThatSomebodyDeletes_IsLostHeldOrIdle) {
  Connection& connection = connect(options(2s));
  FairMutex mutex(connection, kPath, retained());
  const FencingToken token = make_idle(mutex, connection);
  remove_node(std::string(kPath) + "/" + children(kPath).front());
  EXPECT_TRUE(wait_for([&] {
    const Hold hold = mutex.acquire();
    return hold.token() > token;
  })) << "the idle node is taken over for ever";
  Hold hold = mutex.acquire();
  const CallCount lost;
  const Subscription subscription = hold.on_lost(lost.handler());
  remove_node(hold.node());
  EXPECT_TRUE(lost.wait());
}

TEST_F(RetentionTest, ARevocationRequest_TakesAnIdleNodeAwayAndAsksAHolder) {
  Connection& connection = connect();
  Connection& other = connect();
  const CallCount revocations;
  LockOptions options = retained();
  options.on_revoke = revocations.handler();
  FairMutex mutex(connection, kPath, options);
  std::string node;
  {
    const Hold hold = mutex.acquire();
    node = hold.node();
    ASSERT_TRUE(wait_for_waiters(connection, 2)) << "of the children, and of the node for the revocation";
  }
  request_revoke(other, node);
  EXPECT_TRUE(wait_for_nodes(kPath, 0));
  EXPECT_EQ(revocations.count(), 0) << "nobody holds it";
  mutex.lock();
  request_revoke(other, mutex.node());
  EXPECT_TRUE(revocations.wait());
  EXPECT_TRUE(mutex.is_held());
  mutex.unlock();
  EXPECT_TRUE(wait_for_nodes(kPath, 0)) << "somebody wants it";
}

TEST_F(RetentionTest, ARevocationRequest_TakesAnIdleNodeAwayAlsoWhereNoCallbackRuns) {
  ConnectionOptions never = options();
  never.executor = [](const std::function<void()>&) {};
  Connection& connection = connect(never);
  LockOptions options = retained();
  options.on_revoke = [](const std::string&) {};
  FairMutex mutex(connection, kPath, options);
  std::string node;
  {
    const Hold hold = mutex.acquire();
    node = hold.node();
    ASSERT_TRUE(wait_for_waiters(connection, 2));
  }
  request_revoke(connect(), node);
  EXPECT_TRUE(wait_for_nodes(kPath, 0));
}

TEST_F(RetentionTest, ATryOfAnotherClient_IsBusyAndATimedAcquireIsServed) {
  Connection& connection = connect();
  FairMutex mutex(connection, kPath, retained());
  make_idle(mutex, connection);
  FairMutex other(connect(), kPath);
  EXPECT_EQ(other.try_acquire().status(), AcquireStatus::busy);
  EXPECT_TRUE(stays(1));
  EXPECT_TRUE(other.try_acquire_for(kLimit));
}

TEST_F(RetentionTest, AnInterruption_EndsALoopThatTakesTheNodeOver) {
  Connection& connection = connect();
  FairMutex mutex(connection, kPath, retained());
  make_idle(mutex, connection);
  std::atomic<bool> interrupted{false};
  boost::thread loop([&] {
    try {
      const auto end = Clock::now() + kLimit;
      while (Clock::now() < end) const std::lock_guard lock(mutex);
    } catch (const boost::thread_interrupted&) {
      interrupted = true;
    }
  });
  loop.interrupt();
  loop.join();
  EXPECT_TRUE(interrupted);
}

TEST_F(RetentionTest, ForEver_IsAVeryLongTime) {
  Connection& connection = connect();
  FairMutex mutex(connection, kPath, retained(std::chrono::milliseconds::max()));
  const FencingToken token = make_idle(mutex, connection);
  EXPECT_TRUE(stays(1));
  EXPECT_EQ(mutex.acquire().token(), token);
}

TEST_F(RetentionTest, ARecursiveMutex_RetainsWhenTheOutermostLockIsUnlocked) {
  Connection& connection = connect();
  RecursiveFairMutex mutex(connection, kPath, retained());
  mutex.lock();
  const FencingToken token = mutex.fencing_token();
  mutex.lock();
  mutex.unlock();
  EXPECT_TRUE(mutex.is_held());
  mutex.unlock();
  EXPECT_TRUE(stays(1));
  mutex.lock();
  EXPECT_EQ(mutex.fencing_token(), token);
  mutex.unlock();
}

TEST_F(RetentionTest, AStoppedToken_GetsNoHoldAlsoWhereTheNodeIsIdle) {
  Connection& connection = connect();
  FairMutex mutex(connection, kPath, retained());
  make_idle(mutex, connection);
  StopSource stop;
  stop.request_stop();
  EXPECT_EQ(mutex.acquire(stop.token()).status(), AcquireStatus::stopped);
  EXPECT_TRUE(mutex.acquire().is_valid());
}

TEST_F(RetentionTest, ACancelledPendingHold_LeavesTheNodeIdle) {
  Connection& connection = connect();
  FairMutex mutex(connection, kPath, retained());
  const FencingToken token = make_idle(mutex, connection);
  PendingHold pending = mutex.acquire_async();
  EXPECT_TRUE(pending.ready());
  pending.cancel();
  EXPECT_EQ(mutex.acquire().token(), token);
}

TEST_F(RetentionTest, TheChildOfAFork_NeitherTakesNorRemovesTheIdleNode) {
  Connection& connection = connect();
  auto mutex = std::make_unique<FairMutex>(connection, kPath, retained());
  const FencingToken token = make_idle(*mutex, connection);
  const pid_t child = fork();
  if (child == 0) {
    int result = 1;
    try {
      static_cast<void>(mutex->try_acquire());
    } catch (const Error& error) {
      result = error.code() == ErrorCode::forked ? 0 : 2;
    }
    mutex = nullptr;
    _exit(result);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_TRUE(stays(1));
  EXPECT_EQ(mutex->acquire().token(), token);
}

TEST_F(RetentionTest, ManyThreadsAndConnections_NeverHoldTogether) {
  constexpr int kContenders = 6;
  constexpr int kRounds = 150;
  CriticalSection section;
  std::mutex guard;
  std::vector<FencingToken> tokens;
  std::vector<std::unique_ptr<Connection>> connections;
  std::vector<std::unique_ptr<FairMutex>> mutexes;
  for (int i = 0; i < kContenders / 2; ++i) {
    connections.push_back(std::make_unique<Connection>(options()));
    mutexes.push_back(std::make_unique<FairMutex>(*connections.back(), kPath, retained(i == 0 ? 0ms : 5ms * i)));
  }
  Crowd crowd(kContenders, [&](int number) {
    std::mt19937 random(static_cast<unsigned>(number));
    FairMutex& mutex = *mutexes[static_cast<std::size_t>(number) % mutexes.size()];
    for (int i = 0; i < kRounds; ++i) {
      const Hold hold = mutex.acquire();
      section.enter();
      {
        const std::lock_guard lock(guard);
        tokens.push_back(hold.token());
      }
      section.leave();
      if (random() % 4 == 0) std::this_thread::yield();
    }
  });
  crowd.join();
  EXPECT_EQ(section.overlaps(), 0);
  EXPECT_EQ(section.entries(), kContenders * kRounds);
  EXPECT_TRUE(std::is_sorted(tokens.begin(), tokens.end()));
}

TEST_F(RetentionTest, BadOptions_AreRefused) {
  Connection& connection = connect();
  EXPECT_THROW(FairMutex(connection, kPath, retained(-1ms)), std::invalid_argument);
  LockOptions counted = retained();
  counted.version_token = true;
  EXPECT_THROW(FairMutex(connection, kPath, counted), std::invalid_argument);
  EXPECT_THROW(SimpleLock(connection, kPath, retained()), std::invalid_argument);
  EXPECT_THROW(ReadWriteLock(connection, kPath, retained()), std::invalid_argument);
  EXPECT_THROW(RecursiveReadWriteLock(connection, kPath, retained()), std::invalid_argument);
  EXPECT_THROW(Semaphore(connection, kPath, 1, retained()), std::invalid_argument);
  EXPECT_EQ(nodes_at(kPath).size(), 0U);
}

}  // namespace
}  // namespace zkrecipes::testing
