// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/read_write_lock.h"

#include <mutex>
#include <random>
#include <shared_mutex>

#include "tests/recipes/recipe_test.h"

namespace zkrecipes::testing {
namespace {

class ReadWriteLockTest : public ControlledRecipeTest {};

TEST_F(ReadWriteLockTest, Readers_HoldTogether) {
  ReadWriteLock here(connect(), kPath), there(connect(), kPath);
  const Hold first = here.acquire_read();
  const Hold second = there.acquire_read();
  const auto third = there.try_acquire_read();
  ASSERT_TRUE(third);
  EXPECT_TRUE(first.is_valid() && second.is_valid() && third->is_valid());
  EXPECT_NE(first.token(), second.token());
  EXPECT_FALSE(there.try_acquire_write());
}

TEST_F(ReadWriteLockTest, AWriter_IsAlone) {
  ReadWriteLock here(connect(), kPath), there(connect(), kPath);
  const Hold writer = here.acquire_write();
  EXPECT_FALSE(there.try_acquire_read());
  EXPECT_FALSE(there.try_acquire_write());
  EXPECT_FALSE(there.try_acquire_read_for(100ms));
  EXPECT_TRUE(writer.is_valid());
}

TEST_F(ReadWriteLockTest, AReaderBehindAWaitingWriter_Waits) {
  Connection& writing = connect();
  Connection& reading = connect();
  ReadWriteLock a(connect(), kPath), b(writing, kPath), c(reading, kPath);
  Hold first = a.acquire_read();
  PendingHold writer = b.acquire_write_async();
  ASSERT_TRUE(wait_for_waiters(writing, 1));
  EXPECT_FALSE(c.try_acquire_read()) << "must not overtake";
  PendingHold reader = c.acquire_read_async();
  ASSERT_TRUE(wait_for_waiters(reading, 1));
  EXPECT_FALSE(writer.ready());
  EXPECT_FALSE(reader.ready());
  first.release();
  Hold written = get(writer);
  EXPECT_FALSE(reader.ready());
  EXPECT_GT(written.token(), first.token());
  written.release();
  EXPECT_TRUE(get(reader).is_valid());
}

TEST_F(ReadWriteLockTest, AllReadersBehindOneWriter_GoInTogether) {
  constexpr std::size_t kReaders = 10;
  Connection& reading = connect();
  ReadWriteLock lock(connect(), kPath), readers(reading, kPath);
  Hold writer = lock.acquire_write();
  std::vector<PendingHold> pending;
  for (std::size_t i = 0; i < kReaders; ++i) pending.push_back(readers.acquire_read_async());
  ASSERT_TRUE(wait_for_waiters(reading, kReaders));
  writer.release();
  std::vector<Hold> holds;
  for (PendingHold& each : pending) holds.push_back(get(each));
  for (const Hold& hold : holds) EXPECT_TRUE(hold.is_valid());
}

TEST_F(ReadWriteLockTest, AReaderThatLeaves_WakesNoReader) {
  Connection& reading = connect_by_proxy();
  Connection& leaving = connect();
  ReadWriteLock lock(connect(), kPath), readers(reading, kPath), leaver(leaving, kPath);
  Hold writer = lock.acquire_write();
  PendingHold leaves = leaver.acquire_read_async();
  ASSERT_TRUE(wait_for_waiters(leaving, 1));
  PendingHold stays = readers.acquire_read_async();
  ASSERT_TRUE(wait_for_waiters(reading, 1));
  proxy().reset_counts();
  leaves.cancel();
  ASSERT_TRUE(wait_for_nodes(kPath, 2));
  EXPECT_EQ(proxy().counts().watch_events, 0);
  writer.release();
  EXPECT_EQ(get(stays).cost().wakeups, 1);
}

TEST_F(ReadWriteLockTest, ADowngrade_KeepsTheTokenAndTheQueuedWriterOut) {
  Connection& waiting = connect();
  ReadWriteLock lock(connect(), kPath), other(waiting, kPath), third(connect(), kPath);
  Hold write = lock.acquire_write();
  const FencingToken token = write.token();
  PendingHold writer = other.acquire_write_async();
  ASSERT_TRUE(wait_for_waiters(waiting, 1));
  Hold read = lock.downgrade(std::move(write));
  EXPECT_FALSE(write);  // NOLINT(bugprone-use-after-move): it is promised to be empty
  EXPECT_TRUE(read.is_valid());
  EXPECT_EQ(read.token(), token);
  EXPECT_NE(read.node().find("__READ__"), std::string::npos);
  ASSERT_TRUE(wait_for_nodes(kPath, 2)) << "the read node and the writer's";
  ASSERT_TRUE(wait_for_waiters(waiting, 1));
  EXPECT_FALSE(writer.ready());
  EXPECT_FALSE(third.try_acquire_read()) << "behind the writer";
  read.release();
  EXPECT_TRUE(get(writer).is_valid());
}

TEST_F(ReadWriteLockTest, ADowngrade_TakesTheSubscriptionsAlong) {
  ReadWriteLock lock(connect(options(6s)), kPath);
  Hold write = lock.acquire_write();
  const CallCount lost;
  const Subscription subscription = write.on_lost(lost.handler());
  const Hold read = lock.downgrade(std::move(write));
  EXPECT_TRUE(subscription.connected());
  EXPECT_EQ(lost.count(), 0) << "the write hold was not lost";
  remove_node(read.node());
  EXPECT_TRUE(lost.wait());
  EXPECT_FALSE(read.is_valid());
}

TEST_F(ReadWriteLockTest, ADowngrade_LetsReadersInThatQueuedBehindTheWriter) {
  Connection& waiting = connect();
  ReadWriteLock lock(connect(), kPath), other(waiting, kPath);
  Hold write = lock.acquire_write();
  PendingHold reader = other.acquire_read_async();
  ASSERT_TRUE(wait_for_waiters(waiting, 1));
  const Hold read = lock.downgrade(std::move(write));
  EXPECT_TRUE(get(reader).is_valid());
  EXPECT_TRUE(read.is_valid());
}

// The deletion of a write node proves nothing: its read node of the same number may stand in front of the waiter.
TEST_F(ReadWriteLockTest, ADowngrade_KeepsAMutexWaiterOnTheSamePathOut) {
  Connection& waiting = connect();
  ReadWriteLock lock(connect(), kPath);
  FairMutex mutex(waiting, kPath);
  Hold write = lock.acquire_write();
  PendingHold pending = mutex.acquire_async();
  ASSERT_TRUE(wait_for_waiters(waiting, 1));
  Hold read = lock.downgrade(std::move(write));
  ASSERT_TRUE(wait_for_nodes(kPath, 2)) << "the read node and the waiter's";
  EXPECT_TRUE(wait_for_waiters(waiting, 1));
  EXPECT_FALSE(pending.ready());
  EXPECT_TRUE(read.is_valid());
  read.release();
  EXPECT_TRUE(get(pending).is_valid());
}

TEST_F(ReadWriteLockTest, ADowngradeWhoseReplyIsLost_IsResolved) {
  Connection& connection = connect_by_proxy();
  Connection& waiting = connect();
  ReadWriteLock lock(connection, kPath), other(waiting, kPath);
  Hold write = lock.acquire_write();
  PendingHold writer = other.acquire_write_async();
  ASSERT_TRUE(wait_for_waiters(waiting, 1));
  proxy().drop_reply(RequestKind::create);
  proxy().drop_reply(RequestKind::remove);
  Hold read = lock.downgrade(std::move(write));
  EXPECT_TRUE(read.is_valid());
  ASSERT_TRUE(wait_for_nodes(kPath, 2));
  EXPECT_FALSE(writer.ready());
  read.release();
  EXPECT_TRUE(get(writer).is_valid());
}

TEST_F(ReadWriteLockTest, ADowngradeOfSomethingElse_IsRefusedAndChangesNothing) {
  Connection& connection = connect();
  ReadWriteLock lock(connection, kPath), elsewhere(connection, "/elsewhere");
  ReadWriteLock same_path(connect(), kPath);
  const auto not_held = make_error_code(ErrorCode::not_held);
  Hold empty;
  EXPECT_EQ(error_of([&] { static_cast<void>(lock.downgrade(std::move(empty))); }), not_held);
  Hold write = lock.acquire_write();
  EXPECT_EQ(error_of([&] { static_cast<void>(elsewhere.downgrade(std::move(write))); }), not_held);
  EXPECT_EQ(error_of([&] { static_cast<void>(same_path.downgrade(std::move(write))); }), not_held);
  EXPECT_TRUE(write.is_valid());  // NOLINT(bugprone-use-after-move): it is promised to be as it was
  write.release();
  EXPECT_EQ(error_of([&] { static_cast<void>(lock.downgrade(std::move(write))); }), not_held);
  Hold read = lock.acquire_read();
  EXPECT_EQ(error_of([&] { static_cast<void>(lock.downgrade(std::move(read))); }), not_held);
  EXPECT_TRUE(read.is_valid());  // NOLINT(bugprone-use-after-move)
}

TEST_F(ReadWriteLockTest, ADowngradeOfALostHold_IsRefused) {
  Connection& connection = connect();
  ReadWriteLock lock(connection, kPath);
  Hold write = lock.acquire_write();
  expire_session(connection);
  ASSERT_TRUE(wait_for([&] { return !write.is_valid(); }));
  EXPECT_EQ(error_of([&] { static_cast<void>(lock.downgrade(std::move(write))); }),
            make_error_code(ErrorCode::session_lost));
}

TEST_F(ReadWriteLockTest, WriteWhileReading_TimesOutWithoutHarmToOthers) {
  ReadWriteLock lock(connect(), kPath), other(connect(), kPath);
  const Hold read = lock.acquire_read();
  EXPECT_FALSE(lock.try_acquire_write_for(200ms));
  EXPECT_TRUE(read.is_valid());
  EXPECT_TRUE(other.try_acquire_read_for(kLimit)) << "the writer has left the queue";
}

TEST_F(ReadWriteLockTest, StandardLocks_Work) {
  ReadWriteLock lock(connect(), kPath), other(connect(), kPath);
  {
    const std::shared_lock<ReadWriteLock> first(lock);
    std::shared_lock<ReadWriteLock> second(other, std::try_to_lock);
    EXPECT_TRUE(second.owns_lock());
    EXPECT_FALSE(other.try_lock());
    EXPECT_FALSE(lock.is_held()) << "is about writing";
    second.unlock();
    EXPECT_TRUE(second.try_lock_for(kLimit));
  }
  {
    std::unique_lock<ReadWriteLock> writer(lock, std::defer_lock);
    ASSERT_TRUE(writer.try_lock_for(kLimit));
    EXPECT_TRUE(lock.is_held());
    EXPECT_FALSE(other.try_lock_shared());
    EXPECT_FALSE(other.try_lock_shared_for(100ms));
  }
  EXPECT_TRUE(other.try_lock_for(kLimit));
  other.unlock();
}

TEST_F(ReadWriteLockTest, WriteInReadAndReadInWriteByOneThread_AreRefusedAtOnce) {
  Connection& connection = connect();
  ReadWriteLock lock(connection, kPath);
  lock.lock_shared();
  EXPECT_THROW(lock.lock(), std::logic_error);
  EXPECT_THROW(static_cast<void>(lock.try_lock_for(kLimit)), std::logic_error);
  EXPECT_FALSE(lock.try_lock());
  EXPECT_FALSE(lock.try_lock_for(0s));
  Background([&] { EXPECT_FALSE(lock.try_lock_for(10ms)) << "another thread may wait"; }).join();
  EXPECT_TRUE(lock.is_held_shared());
  lock.unlock_shared();

  lock.lock();
  EXPECT_THROW(lock.lock_shared(), std::logic_error);
  EXPECT_THROW(static_cast<void>(lock.try_lock_shared_for(kLimit)), std::logic_error);
  EXPECT_FALSE(lock.try_lock_shared());
  EXPECT_FALSE(lock.try_lock_shared_for(-1s));
  EXPECT_THROW(lock.lock(), std::logic_error);
  EXPECT_FALSE(lock.try_lock_for(10ms));
  EXPECT_TRUE(lock.is_held());
  lock.unlock();
}

TEST_F(ReadWriteLockTest, ALostReadHold_DoesNotKeepItsThreadFromWriting) {
  Connection& connection = connect();
  ReadWriteLock lock(connection, kPath);
  CallCount lost;
  lock.lock_shared();
  const Subscription subscription = lock.on_lost_shared(lost.handler());
  expire_session(connection);
  ASSERT_TRUE(lost.wait());
  EXPECT_FALSE(lock.is_held_shared());
  lock.lock();
  EXPECT_TRUE(lock.is_held());
  EXPECT_GT(lock.fencing_token(), lock.fencing_token_shared());
  lock.unlock();
  lock.unlock_shared();
}

TEST_F(ReadWriteLockTest, AReadersToken_LiesBetweenThoseOfTheWritesAroundIt) {
  ReadWriteLock here(connect(), kPath), there(connect(), kPath);
  here.lock();
  const FencingToken before = here.fencing_token();
  here.unlock();
  here.lock_shared();
  there.lock_shared();
  const FencingToken first = here.fencing_token_shared(), second = there.fencing_token_shared();
  EXPECT_NE(first, second);
  here.unlock_shared();
  there.unlock_shared();
  there.lock();
  for (const FencingToken& token : {first, second}) {
    EXPECT_GT(token, before);
    EXPECT_LT(token, there.fencing_token());
  }
  there.unlock();
}

TEST_F(ReadWriteLockTest, RandomReadsAndWritesUnderFaults_NeverMeet) {
  constexpr int kClients = 8;
  constexpr int kCycles = 25;
  std::vector<Connection*> connections;
  for (int i = 0; i < kClients; ++i) connections.push_back(&begin_connect(options_by_proxy(6s)));
  std::atomic<int> readers{0}, writers{0}, met{0}, most_readers{0}, reads{0}, writes{0};
  std::atomic<bool> over{false};
  Background faults([&] {
    std::mt19937 random(7);
    const RequestKind kinds[] = {RequestKind::create, RequestKind::get_children, RequestKind::get_data,
                                 RequestKind::remove};
    while (!over) {
      if (random() % 20 == 0)
        proxy().cut();
      else
        proxy().drop_reply(kinds[random() % 4]);
      wait_for([&] { return over.load(); }, 50ms);
    }
    proxy().clear_faults();
  });
  Crowd crowd(kClients, [&](int i) {
    std::mt19937 random(static_cast<unsigned>(i));
    ReadWriteLock lock(*connections[static_cast<std::size_t>(i)], kPath);
    for (int cycle = 0; cycle < kCycles; ++cycle) {
      const bool write = random() % 3 == 0;
      const Hold hold = write ? lock.acquire_write() : lock.acquire_read();
      if (!hold.is_valid()) continue;
      if (write) {
        if (++writers != 1 || readers != 0) ++met;
        ++writes;
        --writers;
      } else {
        const int now = ++readers;
        if (now > most_readers) most_readers = now;
        if (writers != 0) ++met;
        ++reads;
        --readers;
      }
    }
  });
  crowd.join();
  over = true;
  faults.join();
  EXPECT_EQ(met, 0);
  EXPECT_EQ(reads + writes, kClients * kCycles);
}

}  // namespace
}  // namespace zkrecipes::testing
