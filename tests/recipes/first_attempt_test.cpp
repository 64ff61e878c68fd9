// SPDX-License-Identifier: Apache-2.0
// A try on a new connection waits for the outcome of its first attempt to connect, and for nothing later.
#include <boost/thread/thread.hpp>

#include "tests/recipes/lock_types.h"
#include "tests/recipes/recipe_test.h"

namespace zkrecipes::testing {
namespace {

template <class Lock>
class FirstAttemptTest : public RecipeTest {};
TYPED_TEST_SUITE(FirstAttemptTest, LockableTypes, LockTypeNames);

TYPED_TEST(FirstAttemptTest, ATryRightAfterTheConstructor_GetsAFreeLock) {
  for (int round = 0; round < 5; ++round) {
    Connection connection(this->options());
    TypeParam lock(connection, this->kPath);
    ASSERT_TRUE(lock.try_lock()) << "in round " << round;
    lock.unlock();
  }
}

class FirstAttempt : public ControlledRecipeTest {
 protected:
  static Clock::duration time_of(const std::function<void()>& call) {
    const auto before = Clock::now();
    call();
    return Clock::now() - before;
  }
  AcquireStatus status_of_try(FairMutex& mutex) { return mutex.try_acquire().status(); }
};

// A name such as "localhost" may have two addresses, of which only one has a server.
TEST_F(FirstAttempt, AServerThatRefuses_DoesNotEndIt) {
  FaultProxy refusing(server().address());
  refusing.refuse(true);
  for (int round = 0; round < 8; ++round) {  // the order of the servers is random
    Connection connection(options_for(refusing.address() + "," + server().address(), 20s));
    FairMutex mutex(connection, kPath);
    EXPECT_TRUE(mutex.try_lock()) << "in round " << round;
    mutex.unlock();
  }
}

TEST_F(FirstAttempt, WhenAllServersRefuse_TheTryEndsWithThatAndTheNextOneAtOnce) {
  proxy().refuse(true);
  const auto made = Clock::now();
  Connection connection(options_by_proxy());
  FairMutex mutex(connection, kPath);
  EXPECT_EQ(status_of_try(mutex), AcquireStatus::not_connected);
  EXPECT_LT(Clock::now() - made, 1900ms) << "it should not wait for the time limit";
  EXPECT_LT(time_of([&] { EXPECT_EQ(status_of_try(mutex), AcquireStatus::not_connected); }), 1s);
}

TEST_F(FirstAttempt, ASilentServer_IsWaitedForNoLongerThanTwoSeconds) {
  proxy().never_answer(true);
  const auto made = Clock::now();
  Connection connection(options_by_proxy(30s));  // which gives a server 5 s
  FairMutex mutex(connection, kPath);
  EXPECT_EQ(status_of_try(mutex), AcquireStatus::not_connected);
  const auto took = Clock::now() - made;
  EXPECT_GE(took, 2s);
  EXPECT_LT(took, 4s);
  EXPECT_LT(time_of([&] { EXPECT_EQ(status_of_try(mutex), AcquireStatus::not_connected); }), 1s);
}

TEST_F(FirstAttempt, ATryWithATimeLimit_WaitsNoLongerThanThat) {
  proxy().never_answer(true);
  Connection connection(options_by_proxy(30s));
  FairMutex mutex(connection, kPath);
  const auto took = time_of([&] {
    EXPECT_EQ(mutex.try_acquire_for(0s).status(), AcquireStatus::not_connected);
    EXPECT_EQ(mutex.try_acquire_until(Clock::now() - 1s).status(), AcquireStatus::not_connected);
    EXPECT_EQ(mutex.try_acquire_for(10ms).status(), AcquireStatus::not_connected);
    AcquireOptions past;
    past.deadline = Clock::now() - 1s;
    EXPECT_TRUE(mutex.acquire_async(past).ready());
  });
  EXPECT_LT(took, 1500ms);
}

TEST_F(FirstAttempt, AnInterruption_EndsTheWait) {
  proxy().never_answer(true);
  Connection connection(options_by_proxy(30s));
  FairMutex mutex(connection, kPath);
  std::atomic<bool> interrupted{false};
  boost::thread trying([&] {
    try {
      static_cast<void>(mutex.try_lock());
    } catch (const boost::thread_interrupted&) {
      interrupted = true;
    }
  });
  trying.interrupt();
  EXPECT_LT(time_of([&] { trying.join(); }), 1500ms);
  EXPECT_TRUE(interrupted);
}

TEST_F(FirstAttempt, AClose_EndsTheWaitWithItsError) {
  proxy().never_answer(true);
  Connection connection(options_by_proxy(30s));
  FairMutex mutex(connection, kPath);
  std::atomic<bool> closed{false};
  Background trying([&] {
    closed = error_of([&] { static_cast<void>(mutex.try_lock()); }) == make_error_code(ErrorCode::connection_closed);
  });
  connection.close();
  trying.join();
  EXPECT_TRUE(closed);
}

TEST_F(FirstAttempt, InsideACallback_ATryIsRefusedAsBefore) {
  Connection& connection = connect();
  FairMutex mutex(connection, kPath), other(connection, "/other");
  std::atomic<bool> refused{false}, ended{false};
  PendingHold pending = mutex.acquire_async();
  pending.on_ready([&](const AcquireResult&) {
    try {
      static_cast<void>(other.try_lock());
    } catch (const std::logic_error&) {
      refused = true;
    }
    ended = true;
  });
  EXPECT_TRUE(wait_for([&] { return ended.load(); }));
  EXPECT_TRUE(refused);
}

}  // namespace
}  // namespace zkrecipes::testing
