// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/recursive_read_write_lock.h"

#include <mutex>
#include <random>
#include <shared_mutex>

#include "tests/recipes/recipe_test.h"

namespace zkrecipes::testing {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr std::size_t kDigits = 10;

class RecursiveReadWriteLockTest : public ControlledRecipeTest {
 protected:
  static bool wait_until_downgraded(const RecursiveReadWriteLock& lock) {
    return wait_for([&] { return lock.node_shared().find("__READ__") != std::string::npos; });
  }
  static bool wait_until_idle(Connection& connection) {
    return wait_for([&] { return load_of(connection).requests == 0; });
  }
};

TEST_F(RecursiveReadWriteLockTest, ReEntry_KeepsOneNodeAndOneTokenAndAsksTheServerForNothing) {
  Connection& connection = connect_by_proxy();
  RecursiveReadWriteLock lock(connection, kPath);
  lock.lock();
  const FencingToken token = lock.fencing_token();
  const std::string node = lock.node();
  ASSERT_TRUE(wait_until_idle(connection));
  proxy().reset_counts();
  EXPECT_TRUE(lock.try_lock());
  EXPECT_TRUE(lock.try_lock_for(1s));
  lock.lock_shared();
  EXPECT_TRUE(lock.try_lock_shared());
  EXPECT_TRUE(lock.try_lock_shared_for(1s));
  EXPECT_EQ(lock.depth(), 3);
  EXPECT_EQ(lock.depth_shared(), 3);
  EXPECT_TRUE(lock.is_held() && lock.is_held_shared());
  EXPECT_EQ(lock.fencing_token(), token);
  EXPECT_EQ(lock.fencing_token_shared(), token);
  EXPECT_EQ(lock.node_shared(), node);
  for (int i = 0; i < 3; ++i) lock.unlock_shared();
  EXPECT_FALSE(lock.is_held_shared());
  lock.unlock();
  lock.unlock();
  EXPECT_EQ(lock.depth(), 1);
  EXPECT_EQ(lock.depth_shared(), 0);
  EXPECT_TRUE(lock.is_held());
  EXPECT_EQ(proxy().counts().operations() - proxy().counts().of(RequestKind::exists), 0) << "but for heartbeats";
  EXPECT_EQ(nodes_at(kPath).size(), 1U);
  lock.unlock();
  EXPECT_FALSE(lock.is_held());
  EXPECT_TRUE(wait_for_nodes(kPath, 0));
}

TEST_F(RecursiveReadWriteLockTest, ReadInRead_IsNotHeldUpByAWaitingWriter) {
  Connection& waiting = connect();
  RecursiveReadWriteLock lock(connect(), kPath);
  ReadWriteLock other(waiting, kPath);
  lock.lock_shared();
  PendingHold writer = other.acquire_write_async();
  ASSERT_TRUE(wait_for_waiters(waiting, 1));
  EXPECT_TRUE(lock.try_lock_shared()) << "a reader that comes first would wait behind the writer";
  EXPECT_EQ(lock.depth_shared(), 2);
  lock.unlock_shared();
  EXPECT_TRUE(lock.is_held_shared());
  EXPECT_FALSE(writer.ready());
  lock.unlock_shared();
  EXPECT_TRUE(get(writer).is_valid());
}

TEST_F(RecursiveReadWriteLockTest, Readers_HoldTogetherWithTokensBetweenThoseOfTheWrites) {
  RecursiveReadWriteLock here(connect(), kPath), there(connect(), kPath);
  here.lock();
  const FencingToken before = here.fencing_token();
  here.unlock();
  const std::shared_lock<RecursiveReadWriteLock> first(here);
  FencingToken tokens[2] = {here.fencing_token_shared(), {}};
  {
    const std::shared_lock<RecursiveReadWriteLock> second(there);
    tokens[1] = there.fencing_token_shared();
    EXPECT_TRUE(here.is_held_shared() && there.is_held_shared());
    EXPECT_FALSE(here.is_held() || there.is_held());
  }
  here.unlock_shared();
  there.lock();
  EXPECT_NE(tokens[0], tokens[1]);
  for (const FencingToken& token : tokens) {
    EXPECT_GT(token, before);
    EXPECT_LT(token, there.fencing_token());
  }
  there.unlock();
  here.lock_shared();  // for the guard
}

// ---- The downgrade ----

TEST_F(RecursiveReadWriteLockTest, AWriteUnlockedBeforeItsRead_GoesOnAsAReadHoldInTheSamePlace) {
  Connection& writing = connect();
  RecursiveReadWriteLock lock(connect(), kPath);
  ReadWriteLock other(writing, kPath);
  lock.lock();
  lock.lock_shared();
  const FencingToken token = lock.fencing_token();
  const std::string write_node = lock.node();
  PendingHold writer = other.acquire_write_async();
  ASSERT_TRUE(wait_for_waiters(writing, 1));
  lock.unlock();
  EXPECT_FALSE(lock.is_held());
  EXPECT_TRUE(lock.is_held_shared());
  EXPECT_EQ(lock.depth(), 0);
  EXPECT_EQ(lock.depth_shared(), 1);
  ASSERT_TRUE(wait_until_downgraded(lock));
  EXPECT_THAT(lock.node_shared(), EndsWith(write_node.substr(write_node.size() - kDigits)));
  EXPECT_EQ(lock.fencing_token_shared(), token);
  ASSERT_TRUE(wait_for_nodes(kPath, 2)) << "the read node and the writer's";
  ASSERT_TRUE(wait_for_waiters(writing, 1));
  EXPECT_FALSE(writer.ready());
  EXPECT_TRUE(lock.is_held_shared());
  lock.unlock_shared();
  EXPECT_FALSE(lock.is_held_shared());
  EXPECT_TRUE(get(writer).is_valid());
}

TEST_F(RecursiveReadWriteLockTest, AReaderThatWaitedForTheWrite_HoldsBesideTheDowngradedOne) {
  Connection& reading = connect();
  Connection& writing = connect();
  RecursiveReadWriteLock lock(connect(), kPath);
  ReadWriteLock reader(reading, kPath), writer(writing, kPath);
  lock.lock();
  lock.lock_shared();
  PendingHold reads = reader.acquire_read_async();
  ASSERT_TRUE(wait_for_waiters(reading, 1));
  PendingHold writes = writer.acquire_write_async();
  ASSERT_TRUE(wait_for_waiters(writing, 1));
  lock.unlock();
  Hold read = get(reads);
  EXPECT_TRUE(read.is_valid());
  EXPECT_TRUE(lock.is_held_shared());
  EXPECT_GT(read.token(), lock.fencing_token_shared());
  lock.unlock_shared();
  EXPECT_FALSE(writes.ready());
  read.release();
  EXPECT_TRUE(get(writes).is_valid());
}

TEST_F(RecursiveReadWriteLockTest, WhileTheDowngradeIsUnderWay_TheThreadReadsAndCannotWrite) {
  RecursiveReadWriteLock lock(connect_by_proxy(), kPath), other(connect(), kPath);
  lock.lock();
  lock.lock_shared();
  const std::string write_node = lock.node();
  proxy().hold_reply(RequestKind::create);
  lock.unlock();  // does not wait for the reply
  ASSERT_TRUE(proxy().wait_until_fired(kLimit));
  EXPECT_FALSE(lock.is_held());
  EXPECT_TRUE(lock.is_held_shared());
  EXPECT_EQ(lock.node_shared(), write_node);
  EXPECT_FALSE(lock.try_lock());
  EXPECT_THROW(lock.lock(), std::logic_error);
  EXPECT_FALSE(other.try_lock_shared());
  lock.lock_shared();
  lock.unlock();  // nothing to unlock
  EXPECT_EQ(lock.depth_shared(), 2);
  proxy().release_held();
  ASSERT_TRUE(wait_until_downgraded(lock));
  EXPECT_TRUE(other.try_lock_shared_for(kLimit));
  other.unlock_shared();
  lock.unlock_shared();
  EXPECT_TRUE(lock.is_held_shared());
  lock.unlock_shared();
}

TEST_F(RecursiveReadWriteLockTest, AReadUnlockedWhileTheDowngradeIsUnderWay_LeavesNothing) {
  Connection& connection = connect_by_proxy();
  Connection& writing = connect();
  RecursiveReadWriteLock lock(connection, kPath);
  ReadWriteLock other(writing, kPath);
  lock.lock();
  lock.lock_shared();
  PendingHold writer = other.acquire_write_async();
  ASSERT_TRUE(wait_for_waiters(writing, 1));
  proxy().hold_reply(RequestKind::create);
  lock.unlock();
  ASSERT_TRUE(proxy().wait_until_fired(kLimit));
  lock.unlock_shared();
  EXPECT_FALSE(lock.is_held_shared());
  EXPECT_EQ(lock.depth_shared(), 0);
  proxy().release_held();
  Hold written = get(writer);
  EXPECT_TRUE(written.is_valid());
  EXPECT_TRUE(wait_for_nodes(kPath, 1)) << "the writer's";
  written.release();
  lock.lock();
  EXPECT_TRUE(lock.is_held());
  EXPECT_GT(lock.fencing_token(), written.token());
  lock.unlock();
}

TEST_F(RecursiveReadWriteLockTest, ALockObjectThatIsDestroyedWhileTheDowngradeIsUnderWay_LeavesNothing) {
  Connection& connection = connect_by_proxy();
  {
    RecursiveReadWriteLock lock(connection, kPath);
    lock.lock();
    lock.lock_shared();
    proxy().hold_reply(RequestKind::create);
    lock.unlock();
    ASSERT_TRUE(proxy().wait_until_fired(kLimit));
  }
  proxy().release_held();
  EXPECT_TRUE(wait_for_nodes(kPath, 0));
}

TEST_F(RecursiveReadWriteLockTest, ADowngradeWhoseRepliesAreLost_IsResolvedWithoutAGap) {
  Connection& connection = connect_by_proxy(6s);
  Connection& writing = connect();
  for (const RequestKind second : {RequestKind::remove, RequestKind::set_data, RequestKind::create}) {
    SCOPED_TRACE(name_of(second));
    RecursiveReadWriteLock lock(connection, kPath);
    ReadWriteLock other(writing, kPath);
    lock.lock();
    lock.lock_shared();
    PendingHold writer = other.acquire_write_async();
    ASSERT_TRUE(wait_for_waiters(writing, 1));
    proxy().drop_reply(RequestKind::create);
    proxy().drop_reply(second);
    lock.unlock();
    ASSERT_TRUE(wait_until_downgraded(lock));
    ASSERT_TRUE(wait_for_nodes(kPath, 2));
    EXPECT_TRUE(lock.is_held_shared());
    EXPECT_FALSE(writer.ready());
    proxy().clear_faults();
    lock.unlock_shared();
    get(writer).release();
  }
}

TEST_F(RecursiveReadWriteLockTest, ADowngradeThatTheServerRefuses_KeepsTheWriteNodeUntilTheReadIsUnlocked) {
  Connection& connection = connect_by_proxy();
  RecursiveReadWriteLock lock(connection, kPath), other(connect(), kPath);
  lock.lock();
  lock.lock_shared();
  const std::string write_node = lock.node();
  proxy().answer_with_error(RequestKind::create, ZNOAUTH);
  lock.unlock();
  ASSERT_TRUE(proxy().wait_until_fired(kLimit));
  ASSERT_TRUE(wait_until_idle(connection));
  EXPECT_TRUE(lock.is_held_shared());
  EXPECT_EQ(lock.node_shared(), write_node);
  EXPECT_FALSE(other.try_lock_shared());
  EXPECT_THROW(lock.lock(), std::logic_error) << "a read hold all the same";
  lock.unlock_shared();
  EXPECT_TRUE(other.try_lock_for(kLimit));
  other.unlock();
}

// ---- Losses ----

TEST_F(RecursiveReadWriteLockTest, ASessionThatExpiresAfterTheDowngrade_IsReportedToTheReaders) {
  Connection& connection = connect();
  RecursiveReadWriteLock lock(connection, kPath);
  CallCount write_lost, read_lost, lost_early;
  lock.lock();
  const Subscription writing = lock.on_lost(write_lost.handler());
  lock.lock_shared();
  const Subscription early = lock.on_lost_shared(lost_early.handler());
  lock.unlock();
  ASSERT_TRUE(wait_until_downgraded(lock));
  const Subscription reading = lock.on_lost_shared(read_lost.handler());
  const FencingToken token = lock.fencing_token_shared();
  expire_session(connection);
  ASSERT_TRUE(read_lost.wait());
  ASSERT_TRUE(lost_early.wait()) << "goes on through the downgrade";
  EXPECT_EQ(write_lost.count(), 0) << "ended with unlock()";
  EXPECT_FALSE(lock.is_held_shared());
  EXPECT_EQ(lock.fencing_token_shared(), token);
  EXPECT_THROW(lock.lock(), std::logic_error) << "still locked for reading";
  lock.unlock_shared();
  lock.lock();
  EXPECT_TRUE(lock.is_held());
  EXPECT_GT(lock.fencing_token(), token);
  lock.unlock();
  EXPECT_EQ(lost_early.count(), 1);
}

TEST_F(RecursiveReadWriteLockTest, ASessionThatExpiresWhileTheDowngradeIsInDoubt_IsALoss) {
  Connection& connection = connect_by_proxy(6s);
  RecursiveReadWriteLock lock(connection, kPath), other(connect(), kPath);
  CallCount write_lost, read_lost;
  lock.lock();
  const Subscription writing = lock.on_lost(write_lost.handler());
  lock.lock_shared();
  const Subscription reading = lock.on_lost_shared(read_lost.handler());
  proxy().hold_reply(RequestKind::create);
  lock.unlock();
  ASSERT_TRUE(proxy().wait_until_fired(kLimit));
  expire_session(connection);
  proxy().refuse(true);
  proxy().refuse(false);
  ASSERT_TRUE(read_lost.wait());
  EXPECT_FALSE(lock.is_held_shared());
  EXPECT_TRUE(other.try_lock_for(kLimit)) << "nothing is left";
  other.unlock();
  lock.unlock_shared();
  lock.lock();
  EXPECT_TRUE(lock.is_held());
  lock.unlock();
  EXPECT_EQ(read_lost.count(), 1);
  EXPECT_EQ(write_lost.count(), 0);
}

TEST_F(RecursiveReadWriteLockTest, AWriteNodeThatIsDeletedBeforeTheDowngrade_IsALoss) {
  Connection& connection = connect_by_proxy();
  RecursiveReadWriteLock lock(connection, kPath), other(connect(), kPath);
  lock.lock();
  lock.lock_shared();
  CallCount lost;
  const Subscription subscription = lock.on_lost_shared(lost.handler());
  remove_node(lock.node());
  lock.unlock();
  ASSERT_TRUE(lost.wait());
  EXPECT_FALSE(lock.is_held_shared());
  EXPECT_TRUE(other.try_lock_for(kLimit)) << "the read node is gone";
  other.unlock();
  lock.unlock_shared();
}

TEST_F(RecursiveReadWriteLockTest, ADowngradeOfALostWrite_SendsNothingAndHoldsNothing) {
  Connection& connection = connect();
  RecursiveReadWriteLock lock(connection, kPath);
  CallCount lost, late;
  lock.lock();
  lock.lock_shared();
  const Subscription subscription = lock.on_lost(lost.handler());
  expire_session(connection);
  ASSERT_TRUE(lost.wait());
  EXPECT_TRUE(lock.try_lock()) << "re-entry into a lost hold";
  EXPECT_FALSE(lock.is_held() || lock.is_held_shared());
  lock.unlock();
  lock.unlock();
  EXPECT_FALSE(lock.is_held_shared());
  const Subscription afterwards = lock.on_lost_shared(late.handler());
  EXPECT_TRUE(late.wait());
  EXPECT_TRUE(nodes_at(kPath).empty());
  lock.unlock_shared();
}

// ---- Threads ----

TEST_F(RecursiveReadWriteLockTest, WriteInRead_IsRefusedAtOnceAndHarmsNobody) {
  Connection& connection = connect_by_proxy();
  RecursiveReadWriteLock lock(connection, kPath), other(connect(), kPath);
  lock.lock_shared();
  ASSERT_TRUE(wait_until_idle(connection));
  proxy().reset_counts();
  EXPECT_THROW(lock.lock(), std::logic_error);
  EXPECT_THROW(static_cast<void>(lock.try_lock_for(kLimit)), std::logic_error);
  EXPECT_THROW(static_cast<void>(lock.try_lock_until(Clock::now() + kLimit)), std::logic_error);
  EXPECT_FALSE(lock.try_lock());
  EXPECT_FALSE(lock.try_lock_for(0s));
  EXPECT_EQ(proxy().counts().of(RequestKind::create), 0);
  EXPECT_EQ(lock.depth(), 0);
  EXPECT_TRUE(lock.is_held_shared());
  EXPECT_TRUE(other.try_lock_shared());
  other.unlock_shared();
  lock.unlock_shared();
  EXPECT_TRUE(lock.try_lock_for(kLimit));
  lock.unlock();
}

TEST_F(RecursiveReadWriteLockTest, EachThread_HasItsOwnDepthAndHold) {
  RecursiveReadWriteLock lock(connect(), kPath);
  const std::shared_lock<RecursiveReadWriteLock> guard(lock);
  const FencingToken token = lock.fencing_token_shared();
  Background([&] {
    EXPECT_EQ(lock.depth_shared(), 0);
    EXPECT_TRUE(lock.is_held_shared()) << "by any thread";
    EXPECT_FALSE(lock.try_lock()) << "this thread could, if the other did not read";
    lock.lock_shared();
    EXPECT_NE(lock.fencing_token_shared(), token);
    EXPECT_EQ(lock.depth_shared(), 1);
    lock.unlock_shared();
  }).join();
  EXPECT_EQ(lock.fencing_token_shared(), token);
  EXPECT_EQ(lock.depth_shared(), 1);
}

TEST_F(RecursiveReadWriteLockTest, WithoutALock_QuestionsAreErrors) {
  RecursiveReadWriteLock lock(connect(), kPath);
  const auto not_held = make_error_code(ErrorCode::not_held);
  const std::shared_lock<RecursiveReadWriteLock> guard(lock);
  EXPECT_EQ(error_of([&] { static_cast<void>(lock.fencing_token()); }), not_held);
  EXPECT_EQ(error_of([&] { static_cast<void>(lock.node()); }), not_held);
  EXPECT_EQ(error_of([&] { static_cast<void>(lock.on_lost([] {})); }), not_held);
  RecursiveReadWriteLock other(connect(), "/other");
  EXPECT_EQ(error_of([&] { static_cast<void>(other.fencing_token_shared()); }), not_held);
  EXPECT_EQ(error_of([&] { static_cast<void>(other.node_shared()); }), not_held);
  EXPECT_EQ(error_of([&] { static_cast<void>(other.on_lost_shared([] {})); }), not_held);
  EXPECT_THROW(RecursiveReadWriteLock(connect(), "relative"), std::invalid_argument);
}

TEST_F(RecursiveReadWriteLockTest, ARevocationRequest_ReachesTheHolderBeforeAndAfterTheDowngrade) {
  CallCount asked;
  LockOptions options;
  options.on_revoke = [asked](const std::string&) { asked.handler()(); };
  RecursiveReadWriteLock lock(connect(), kPath, options);
  Connection& other = connect();
  lock.lock();
  lock.lock_shared();
  request_revoke(other, lock.node());
  EXPECT_TRUE(asked.wait(1));
  lock.unlock();
  ASSERT_TRUE(wait_until_downgraded(lock));
  request_revoke(other, lock.node_shared());
  EXPECT_TRUE(asked.wait(2));
  lock.unlock_shared();
}

TEST_F(RecursiveReadWriteLockTest, RandomNestingUnderFaults_KeepsReadersAndWritersApart) {
  constexpr int kClients = 4;
  constexpr int kThreads = 2;
  constexpr int kCycles = 20;
  std::vector<std::unique_ptr<RecursiveReadWriteLock>> locks;
  for (int i = 0; i < kClients; ++i)
    locks.push_back(std::make_unique<RecursiveReadWriteLock>(begin_connect(options_by_proxy(6s)), kPath));
  std::atomic<int> readers{0}, writers{0}, met{0}, sections{0};
  std::atomic<bool> over{false};
  Background faults([&] {
    std::mt19937 random(11);
    const RequestKind kinds[] = {RequestKind::create, RequestKind::get_children, RequestKind::remove,
                                 RequestKind::set_data};
    while (!over) {
      if (random() % 20 == 0)
        proxy().cut();
      else
        proxy().drop_reply(kinds[random() % 4]);
      wait_for([&] { return over.load(); }, 50ms);
    }
    proxy().clear_faults();
  });
  Crowd crowd(kClients * kThreads, [&](int i) {
    std::mt19937 random(static_cast<unsigned>(i));
    RecursiveReadWriteLock& lock = *locks[static_cast<std::size_t>(i % kClients)];
    const auto read = [&] {
      if (!lock.is_held_shared()) return;
      ++readers;
      if (writers != 0) ++met;
      ++sections;
      --readers;
    };
    for (int cycle = 0; cycle < kCycles; ++cycle) {
      if (random() % 2 == 0) {
        lock.lock();
        if (lock.is_held()) {
          if (++writers != 1 || readers != 0) ++met;
          ++sections;
          --writers;
        }
        lock.lock_shared();
        lock.unlock();
      } else {
        lock.lock_shared();
      }
      read();
      lock.lock_shared();
      if (random() % 2 == 0) read();
      lock.unlock_shared();
      lock.unlock_shared();
      EXPECT_EQ(lock.depth() + lock.depth_shared(), 0);
    }
  });
  crowd.join();
  over = true;
  faults.join();
  EXPECT_EQ(met, 0);
  EXPECT_GT(sections, 0);
}

}  // namespace
}  // namespace zkrecipes::testing
