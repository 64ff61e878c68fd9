// SPDX-License-Identifier: Apache-2.0
// Asio's own coroutines.
// clang-format off
#include <utility>  // first: awaitable.hpp of Boost 1.74 needs it and does not include it
// clang-format on
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "tests/waiting/waiting_test.h"
#include "zkrecipes/asio.h"

namespace zkrecipes::testing {
namespace {

using boost::asio::awaitable;
using boost::asio::use_awaitable;

class AsioAwaitableTest : public WaitingTest {
 protected:
  std::unique_ptr<boost::asio::io_context> io = std::make_unique<boost::asio::io_context>();
  int done = 0;
};

awaitable<void> take_turns(FairMutex& mutex, int& done) {
  const std::thread::id thread = std::this_thread::get_id();
  for (int i = 0; i < 3; ++i) {
    const Hold hold = co_await async_acquire(mutex, {}, use_awaitable);
    EXPECT_TRUE(hold.is_valid());
    EXPECT_EQ(std::this_thread::get_id(), thread);
  }
  ++done;
}

TEST_F(AsioAwaitableTest, Coroutines_TakeTurnsOnOneThread) {
  FairMutex mutex(connect(), kPath);
  for (int i = 0; i < 10; ++i) co_spawn(*io, take_turns(mutex, done), boost::asio::detached);
  io->run_for(kLimit);
  EXPECT_EQ(done, 10);
}

awaitable<void> come_too_late(FairMutex& mutex, AcquireOptions options, int& done) {
  std::optional<std::error_code> code;
  try {
    static_cast<void>(co_await async_acquire(mutex, options, use_awaitable));
  } catch (const Error& error) {
    code = error.code();
  }
  EXPECT_EQ(code, make_error_code(ErrorCode::timed_out));
  ++done;
}

TEST_F(AsioAwaitableTest, ADeadline_IsAnExceptionInTheCoroutine) {
  FairMutex mutex(connect(), kPath);
  const Hold hold = mutex.acquire();
  co_spawn(*io, come_too_late(mutex, within(10ms), done), boost::asio::detached);
  io->run_for(kLimit);
  EXPECT_EQ(done, 1);
}

awaitable<void> wait_with([[maybe_unused]] std::shared_ptr<int> owned, FairMutex& mutex, int& done) {
  static_cast<void>(co_await async_acquire(mutex, {}, use_awaitable));
  ++done;
}

TEST_F(AsioAwaitableTest, TheAcquire_BeginsWhenItIsAwaited) {
  Connection& connection = connect();
  FairMutex mutex(connection, kPath);
  const awaitable<Hold> never_awaited = async_acquire(mutex, {}, use_awaitable);
  EXPECT_EQ(load_of(connection).requests, 0U);
}

TEST_F(AsioAwaitableTest, AContextThatIsDestroyed_DestroysTheCoroutine) {
  Connection& waiting = connect();
  FairMutex mutex(waiting, kPath);
  const Hold hold = mutex.acquire();
  const auto owned = std::make_shared<int>(0);
  co_spawn(*io, wait_with(owned, mutex, done), boost::asio::detached);
  io->poll();
  ASSERT_TRUE(wait_for_waiters(waiting, 1));
  io.reset();
  EXPECT_EQ(owned.use_count(), 1);
  EXPECT_EQ(done, 0);
  EXPECT_TRUE(wait_for_nodes(kPath, 1));
}

}  // namespace
}  // namespace zkrecipes::testing
