// SPDX-License-Identifier: Apache-2.0
// What the completion tokens give, where handlers run, and how a wait ends.
#include "zkrecipes/asio.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>
#include <future>

#include "tests/waiting/waiting_test.h"

namespace zkrecipes::testing {
namespace {

class AsioTest : public WaitingTest {
 protected:
  /// Runs until there is no work left; a wait counts as work.
  void run() { io.run_for(kLimit); }

  boost::asio::io_context io;
  Outcome outcome;
};

TEST_F(AsioTest, AHandler_RunsOnItsExecutorAndOwnsTheHold) {
  FairMutex mutex(connect(), kPath);
  async_acquire(mutex, {}, boost::asio::bind_executor(io, outcome.handler()));
  EXPECT_EQ(outcome.calls(), 0);
  run();
  ASSERT_EQ(outcome.calls(), 1);
  EXPECT_NO_THROW(outcome.check());
  EXPECT_TRUE(outcome.hold().is_valid());
  EXPECT_EQ(outcome.state->thread, std::this_thread::get_id());
  outcome.hold() = Hold();
}

TEST_F(AsioTest, APendingHoldThatIsReady_CompletesAfterTheCall) {
  FairMutex mutex(connect(), kPath);
  PendingHold pending = mutex.acquire_async();
  ASSERT_TRUE(wait_until_ready(pending));
  bool is_outside = false;
  boost::asio::post(io, [&] {
    async_wait(std::move(pending),
               boost::asio::bind_executor(io, [&](const std::exception_ptr& error, const Hold& hold) {
                 EXPECT_TRUE(is_outside);
                 EXPECT_FALSE(error);
                 EXPECT_TRUE(hold.is_valid());
                 outcome.handler()(nullptr, Hold());
               }));
    is_outside = true;
  });
  run();
  EXPECT_EQ(outcome.calls(), 1);
}

TEST_F(AsioTest, AHandlerWithoutAnExecutor_RunsOnTheSystemExecutor) {
  FairMutex mutex(connect(), kPath);
  async_acquire(mutex, {}, outcome.handler());
  ASSERT_TRUE(wait_for([&] { return outcome.calls() == 1; }));
  EXPECT_TRUE(outcome.hold().is_valid());
  EXPECT_NE(outcome.state->thread, std::this_thread::get_id());
  outcome.hold() = Hold();
}

TEST_F(AsioTest, AFuture_GivesTheHoldOrThrows) {
  FairMutex mutex(connect(), kPath);
  std::future<Hold> granted = async_acquire(mutex, {}, boost::asio::use_future);
  ASSERT_EQ(granted.wait_for(kLimit), std::future_status::ready);
  const Hold hold = granted.get();
  EXPECT_TRUE(hold.is_valid());
  std::future<Hold> late = async_acquire(mutex, within(10ms), boost::asio::use_future);
  ASSERT_EQ(late.wait_for(kLimit), std::future_status::ready);
  EXPECT_EQ(error_of([&] { static_cast<void>(late.get()); }), make_error_code(ErrorCode::timed_out));
}

TEST_F(AsioTest, AStrand_RunsTheHandlersOneByOne) {
  FairMutex mutex(connect(), kPath);
  boost::asio::thread_pool pool(3);
  auto strand = boost::asio::make_strand(pool);
  std::atomic<int> inside{0}, overlaps{0}, calls{0};
  for (int i = 0; i < 30; ++i)
    async_acquire(mutex, {}, boost::asio::bind_executor(strand, [&](const std::exception_ptr& error, Hold hold) {
                    EXPECT_FALSE(error);
                    if (++inside > 1) ++overlaps;
                    hold = Hold();
                    --inside;
                    ++calls;
                  }));
  pool.join();
  EXPECT_EQ(calls, 30);
  EXPECT_EQ(overlaps, 0);
}

TEST_F(AsioTest, ADeadline_EndsTheWait) {
  FairMutex mutex(connect(), kPath);
  const Hold hold = mutex.acquire();
  async_acquire(mutex, within(10ms), boost::asio::bind_executor(io, outcome.handler()));
  run();
  ASSERT_EQ(outcome.calls(), 1);
  EXPECT_EQ(error_of([&] { outcome.check(); }), make_error_code(ErrorCode::timed_out));
  EXPECT_TRUE(wait_for_nodes(kPath, 1));
}

TEST_F(AsioTest, AStopToken_EndsTheWait) {
  Connection& waiting = connect();
  FairMutex mutex(waiting, kPath);
  const Hold hold = mutex.acquire();
  StopSource stop;
  AcquireOptions options;
  options.stop = stop.token();
  async_acquire(mutex, options, boost::asio::bind_executor(io, outcome.handler()));
  ASSERT_TRUE(wait_for_waiters(waiting, 1));
  boost::asio::post(io, [&] { stop.request_stop(); });
  run();
  ASSERT_EQ(outcome.calls(), 1);
  EXPECT_THROW(outcome.check(), Cancelled);
  EXPECT_TRUE(wait_for_nodes(kPath, 1));
}

TEST_F(AsioTest, AConnectionThatIsClosed_EndsTheWait) {
  Connection& closed = connect();
  FairMutex mutex(closed, kPath), other(connect(), kPath);
  const Hold hold = other.acquire();
  async_acquire(mutex, {}, boost::asio::bind_executor(io, outcome.handler()));
  ASSERT_TRUE(wait_for_waiters(closed, 1));
  boost::asio::post(io, [&] { disconnect(closed); });
  run();
  ASSERT_EQ(outcome.calls(), 1);
  EXPECT_THROW(outcome.check(), ConnectionClosed);

  const Outcome too_late;
  io.restart();
  async_acquire(mutex, {}, boost::asio::bind_executor(io, too_late.handler()));
  run();
  ASSERT_EQ(too_late.calls(), 1);
  EXPECT_THROW(too_late.check(), ConnectionClosed);
}

TEST_F(AsioTest, AnEmptyPendingHold_IsReportedToTheHandler) {
  async_wait(PendingHold(), boost::asio::bind_executor(io, outcome.handler()));
  EXPECT_EQ(outcome.calls(), 0);
  run();
  ASSERT_EQ(outcome.calls(), 1);
  EXPECT_THROW(outcome.check(), std::logic_error);
}

TEST_F(AsioTest, EachKindOfLock_CanBeWaitedFor) {
  Connection& connection = connect();
  SimpleLock simple(connection, "/simple");
  Semaphore semaphore(connection, "/semaphore", 1);
  async_acquire(simple, {}, boost::asio::bind_executor(io, outcome.handler()));
  const Outcome second;
  async_wait(semaphore.acquire_async(), boost::asio::bind_executor(io, second.handler()));
  run();
  EXPECT_TRUE(outcome.hold().is_valid());
  EXPECT_TRUE(second.hold().is_valid());
  outcome.hold() = Hold();
  second.hold() = Hold();
}

TEST_F(AsioTest, ReadersAndSeveralPermits_AreGrantedWhenTheirTurnComes) {
  Connection& waiting = connect();
  Connection& holding = connect();
  ReadWriteLock lock(waiting, kPath), writer(holding, kPath);
  Semaphore semaphore(waiting, "/semaphore", 3), other(holding, "/semaphore", 3);
  Hold write = writer.acquire_write();
  Hold permit = other.acquire();
  const Outcome first, second, permits, late;
  async_wait(lock.acquire_read_async(), boost::asio::bind_executor(io, first.handler()));
  async_wait(lock.acquire_read_async(), boost::asio::bind_executor(io, second.handler()));
  async_wait(semaphore.acquire_async(3), boost::asio::bind_executor(io, permits.handler()));
  ASSERT_TRUE(wait_for_waiters(waiting, 3));
  io.poll();
  EXPECT_EQ(first.calls() + second.calls() + permits.calls(), 0);
  write = Hold();
  permit = Hold();
  run();
  EXPECT_TRUE(first.hold().is_valid());
  EXPECT_TRUE(second.hold().is_valid()) << "readers hold together";
  EXPECT_TRUE(permits.hold().is_valid());
  EXPECT_TRUE(wait_for_nodes("/semaphore", 3)) << "a lease for each permit";

  io.restart();
  async_wait(semaphore.acquire_async(2, within(10ms)), boost::asio::bind_executor(io, late.handler()));
  async_wait(lock.acquire_write_async(within(10ms)), boost::asio::bind_executor(io, outcome.handler()));
  run();
  EXPECT_EQ(error_of([&] { late.check(); }), make_error_code(ErrorCode::timed_out));
  EXPECT_EQ(error_of([&] { outcome.check(); }), make_error_code(ErrorCode::timed_out));
  for (const Outcome* const each : {&first, &second, &permits}) each->hold() = Hold();
}

TEST_F(AsioTest, ManyAtOnce_AreServedByOneThread) {
  Connection& connection = connect();
  FairMutex mutex(connection, kPath), other(connection, "/other");
  int served = 0, late = 0;
  for (int i = 0; i < 200; ++i) {
    const bool is_hurried = i % 4 == 0;
    async_acquire(i % 2 == 0 ? mutex : other, is_hurried ? within(1ms) : AcquireOptions(),
                  boost::asio::bind_executor(io, [&](const std::exception_ptr& error, const Hold& hold) {
                    ++(error ? late : served);
                    EXPECT_EQ(hold.is_valid(), !error);
                  }));
  }
  run();
  EXPECT_EQ(served + late, 200);
  EXPECT_GE(served, 150);
}

}  // namespace
}  // namespace zkrecipes::testing
