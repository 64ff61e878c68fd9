// SPDX-License-Identifier: Apache-2.0
// A std::stop_token can be passed wherever a StopToken is expected.
#include <future>
#include <optional>
#include <stop_token>
#include <thread>

#include "tests/waiting/waiting_test.h"
#include "zkrecipes/stop_token.h"

namespace zkrecipes::testing {
namespace {

class StdStopTokenTest : public WaitingTest {};

TEST_F(StdStopTokenTest, AToken_IsStoppedWhenTheOneItWasMadeFromIs) {
  EXPECT_FALSE(StopToken(std::stop_token()).stop_possible());
  std::stop_source source;
  const StopToken token = source.get_token();
  const StopToken copy = token;
  EXPECT_TRUE(token.stop_possible());
  EXPECT_FALSE(token.stop_requested());
  source.request_stop();
  EXPECT_TRUE(token.stop_requested());
  EXPECT_TRUE(copy.stop_requested());
  EXPECT_TRUE(StopToken(source.get_token()).stop_requested()) << "made after the stop";
}

TEST_F(StdStopTokenTest, ATokenThatIsGoneBeforeTheStop_IsNotTouched) {
  std::stop_source source;
  std::optional<StopToken> token(source.get_token());
  token.reset();
  EXPECT_TRUE(source.request_stop());
}

TEST_F(StdStopTokenTest, AThreadThatIsAskedToStop_LeavesTheQueue) {
  Connection& waiting = connect();
  FairMutex mutex(waiting, kPath);
  Semaphore semaphore(waiting, "/semaphore", 1);
  const Hold hold = mutex.acquire(), permit = semaphore.acquire();
  std::promise<AcquireStatus> acquired, permitted;
  std::promise<bool> locked;
  {
    std::jthread first([&](const std::stop_token& stop) { acquired.set_value(mutex.acquire(stop).status()); });
    std::jthread second([&](const std::stop_token& stop) { permitted.set_value(semaphore.acquire(stop).status()); });
    std::jthread third([&](const std::stop_token& stop) { locked.set_value(mutex.lock(stop)); });
    ASSERT_TRUE(wait_for_waiters(waiting, 3));
  }  // asks them to stop, and joins
  EXPECT_EQ(acquired.get_future().get(), AcquireStatus::stopped);
  EXPECT_EQ(permitted.get_future().get(), AcquireStatus::stopped);
  EXPECT_FALSE(locked.get_future().get());
  EXPECT_TRUE(wait_for_waiters(waiting, 0));
  EXPECT_TRUE(wait_for_nodes(kPath, 1));
}

TEST_F(StdStopTokenTest, AStop_EndsAPendingHold) {
  Connection& waiting = connect();
  FairMutex mutex(waiting, kPath);
  const Hold hold = mutex.acquire();
  std::stop_source source;
  AcquireOptions options;
  options.stop = source.get_token();
  PendingHold pending = mutex.acquire_async(options);
  ASSERT_TRUE(wait_for_waiters(waiting, 1));
  source.request_stop();
  EXPECT_TRUE(pending.ready());
  EXPECT_THROW(static_cast<void>(pending.get()), Cancelled);
  EXPECT_TRUE(wait_for_waiters(waiting, 0));
}

}  // namespace
}  // namespace zkrecipes::testing
