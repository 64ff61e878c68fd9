// SPDX-License-Identifier: Apache-2.0
// The stackful coroutines of boost::asio::spawn().
// Asio 1.74 knows only Boost.Coroutine for them, which is deprecated and includes deprecated headers.
#define BOOST_ALLOW_DEPRECATED_HEADERS
#define BOOST_COROUTINES_NO_DEPRECATION_WARNING
#include <boost/asio/io_context.hpp>
#include <boost/asio/spawn.hpp>
#include <memory>

#include "tests/waiting/waiting_test.h"
#include "zkrecipes/asio.h"

namespace zkrecipes::testing {
namespace {

using boost::asio::yield_context;

class AsioSpawnTest : public WaitingTest {};

TEST_F(AsioSpawnTest, AYield_GivesTheHoldOnTheThreadOfTheContext) {
  boost::asio::io_context io;
  Connection& connection = connect();
  FairMutex mutex(connection, kPath), other(connection, "/other");
  int turns = 0, inside = 0;
  for (int i = 0; i < 10; ++i)
    boost::asio::spawn(io, [&](const yield_context& yield) {
      const Hold hold = async_acquire(mutex, {}, yield);
      EXPECT_TRUE(hold.is_valid());
      EXPECT_EQ(++inside, 1);
      const Hold second = async_wait(other.acquire_async(), yield);
      EXPECT_TRUE(second.is_valid());
      --inside;
      ++turns;
    });
  io.run_for(kLimit);
  EXPECT_EQ(turns, 10);
}

TEST_F(AsioSpawnTest, AFailure_IsThrownInTheCoroutine) {
  boost::asio::io_context io;
  FairMutex mutex(connect(), kPath);
  const Hold hold = mutex.acquire();
  bool has_ended = false;
  boost::asio::spawn(io, [&](const yield_context& yield) {
    EXPECT_EQ(error_of([&] { static_cast<void>(async_acquire(mutex, within(10ms), yield)); }),
              make_error_code(ErrorCode::timed_out));
    has_ended = true;
  });
  io.run_for(kLimit);
  EXPECT_TRUE(has_ended);
  EXPECT_TRUE(wait_for_nodes(kPath, 1));
}

TEST_F(AsioSpawnTest, AContextThatIsDestroyed_EndsTheCoroutineAndLeavesTheQueue) {
  Connection& waiting = connect();
  FairMutex mutex(waiting, kPath);
  const Hold hold = mutex.acquire();
  const auto owned = std::make_shared<int>(0);
  bool is_granted = false;
  {
    boost::asio::io_context io;
    boost::asio::spawn(io, [&, kept = owned](const yield_context& yield) {
      const auto on_its_stack = kept;
      static_cast<void>(async_acquire(mutex, {}, yield));
      is_granted = true;
    });
    io.run_for(kMoment);
    ASSERT_TRUE(wait_for_waiters(waiting, 1));
  }
  EXPECT_EQ(owned.use_count(), 1);
  EXPECT_FALSE(is_granted);
  EXPECT_TRUE(wait_for_waiters(waiting, 0));
  EXPECT_TRUE(wait_for_nodes(kPath, 1));
}

}  // namespace
}  // namespace zkrecipes::testing
