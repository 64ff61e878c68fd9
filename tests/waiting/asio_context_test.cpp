// SPDX-License-Identifier: Apache-2.0
// An execution context that is destroyed while operations wait, complete or have completed.
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <random>

#include "tests/waiting/waiting_test.h"

namespace zkrecipes::testing {
namespace {

class AsioContextTest : public WaitingTest {
 protected:
  std::unique_ptr<boost::asio::io_context> io = std::make_unique<boost::asio::io_context>();
  Outcome outcome;
};

TEST_F(AsioContextTest, DestroyedWhileWaiting_LeavesTheQueueAndDropsTheHandler) {
  Connection& waiting = connect();
  FairMutex mutex(waiting, kPath);
  const Hold hold = mutex.acquire();
  for (int i = 0; i < 3; ++i) async_acquire(mutex, {}, boost::asio::bind_executor(*io, outcome.handler()));
  async_acquire(mutex, {}, boost::asio::bind_executor(boost::asio::make_strand(*io), outcome.handler()));
  ASSERT_TRUE(wait_for_waiters(waiting, 4));
  io.reset();
  EXPECT_EQ(outcome.calls(), 0);
  EXPECT_EQ(outcome.state.use_count(), 1) << "the handlers are destroyed";
  EXPECT_TRUE(wait_for_waiters(waiting, 0));
  EXPECT_TRUE(wait_for_nodes(kPath, 1));
}

TEST_F(AsioContextTest, DestroyedBeforeTheHandlerRuns_ReleasesTheHold) {
  FairMutex mutex(connect(), kPath);
  async_acquire(mutex, {}, boost::asio::bind_executor(*io, outcome.handler()));
  ASSERT_TRUE(wait_for_nodes(kPath, 1));
  io.reset();
  EXPECT_EQ(outcome.calls(), 0);
  EXPECT_EQ(outcome.state.use_count(), 1);
  EXPECT_TRUE(mutex.try_acquire_for(kLimit));
}

TEST_F(AsioContextTest, AHandlerThatStartsAnotherWaitWhenItIsDestroyed_DoesNoHarm) {
  FairMutex mutex(connect(), kPath);
  const Hold hold = mutex.acquire();
  struct Stubborn {
    ~Stubborn() { async_acquire(mutex, {}, boost::asio::bind_executor(executor, outcome.handler())); }
    FairMutex& mutex;
    boost::asio::io_context::executor_type executor;
    Outcome outcome;
  };
  // NOLINTNEXTLINE(modernize-make-shared): an aggregate
  const auto stubborn = [&] { return std::shared_ptr<Stubborn>(new Stubborn{mutex, io->get_executor(), outcome}); };
  async_acquire(mutex, {},
                boost::asio::bind_executor(*io, [owned = stubborn()](const std::exception_ptr&, const Hold&) {}));
  io.reset();
  EXPECT_EQ(outcome.state.use_count(), 1);
}

TEST_F(AsioContextTest, StoppedAndDestroyedAtAnyMoment_NothingIsLeft) {
  Connection& connection = connect();
  FairMutex mutex(connection, kPath);
  std::mt19937 random(1);
  for (int i = 0; i < 60; ++i) {
    boost::asio::thread_pool pool(1);
    for (int n = 0; n < 4; ++n)
      async_acquire(mutex, {}, boost::asio::bind_executor(boost::asio::make_strand(pool), outcome.handler()));
    const auto until = Clock::now() + std::chrono::microseconds(random() % 6000);
    while (Clock::now() < until) std::this_thread::yield();
    pool.stop();
    pool.join();
    outcome.hold() = Hold();
  }
  EXPECT_EQ(outcome.state.use_count(), 1);
  EXPECT_TRUE(wait_for_nodes(kPath, 0)) << outcome.calls() << " were called";
}

TEST_F(AsioContextTest, AHandlerThatDestroysTheLockAndTheConnection_IsSafe) {
  auto mutex = std::make_unique<FairMutex>(connect(), kPath);
  Connection& doomed = connect();
  auto lock = std::make_unique<FairMutex>(doomed, kPath);
  Hold first = mutex->acquire();
  async_acquire(*lock, {}, boost::asio::bind_executor(*io, [&](const std::exception_ptr&, Hold hold) {
    hold = Hold();
    lock.reset();
    disconnect(doomed);
    outcome.handler()(nullptr, Hold());
  }));
  ASSERT_TRUE(wait_for_waiters(doomed, 1));
  boost::asio::post(*io, [&] { first = Hold(); });
  io->run_for(kLimit);
  EXPECT_EQ(outcome.calls(), 1);
}

TEST_F(AsioContextTest, AConnectionThatIsDestroyedFirst_LeavesNothingInTheContext) {
  Connection& doomed = connect();
  FairMutex mutex(connect(), kPath);
  const Hold hold = mutex.acquire();
  {
    FairMutex lock(doomed, kPath);
    async_acquire(lock, {}, boost::asio::bind_executor(*io, outcome.handler()));
  }
  disconnect(doomed);
  io.reset();
  EXPECT_EQ(outcome.state.use_count(), 1);
}

/// The smallest executor that Asio knows: it has no execution context, and so nobody who ends its operations.
struct BareExecutor {
  boost::asio::io_context* io = nullptr;
  template <class Function>
  void execute(Function function) const {
    boost::asio::post(*io, std::move(function));
  }
  // Never runs anything inside execute().
  static constexpr boost::asio::execution::blocking_t query(boost::asio::execution::blocking_t) noexcept {
    return boost::asio::execution::blocking.never;
  }
  BareExecutor require(boost::asio::execution::blocking_t::never_t) const noexcept { return *this; }
  friend bool operator==(const BareExecutor& a, const BareExecutor& b) noexcept { return a.io == b.io; }
  friend bool operator!=(const BareExecutor& a, const BareExecutor& b) noexcept { return a.io != b.io; }
};

TEST_F(AsioContextTest, AnExecutorWithoutAContext_Works) {
  FairMutex mutex(connect(), kPath);
  auto work = boost::asio::make_work_guard(*io);
  async_acquire(mutex, {}, boost::asio::bind_executor(BareExecutor{io.get()}, outcome.handler()));
  ASSERT_TRUE(wait_for([&] { return io->poll_one() == 1; }));
  ASSERT_EQ(outcome.calls(), 1);
  EXPECT_TRUE(outcome.hold().is_valid());
  outcome.hold() = Hold();
}

}  // namespace
}  // namespace zkrecipes::testing
