// SPDX-License-Identifier: Apache-2.0
// boost::thread::interrupt() makes a blocking call leave the queue, and only a blocking call.
#include <boost/thread/thread.hpp>

#include "tests/recipes/lock_types.h"
#include "tests/recipes/recipe_test.h"

namespace zkrecipes::testing {
namespace {

/// A thread that can be interrupted; joins when destroyed.
class Interruptible {
 public:
  explicit Interruptible(std::function<void()> work)
      : thread_([this, work = std::move(work)] {
          try {
            work();
          } catch (const boost::thread_interrupted&) {
            interrupted_ = true;
          }
        }) {}
  ~Interruptible() {
    if (thread_.joinable()) thread_.join();
  }
  void request() { thread_.interrupt(); }
  /// And waits for its end: whether it ended by that.
  bool interrupt() {
    request();
    thread_.join();
    return interrupted_;
  }

 private:
  std::atomic<bool> interrupted_{false};
  boost::thread thread_;
};

template <class Lock>
class InterruptionTest : public RecipeTest {};

TYPED_TEST_SUITE(InterruptionTest, LockTypes, LockTypeNames);

TYPED_TEST(InterruptionTest, AnInterruptedWait_LeavesTheQueue) {
  Connection& waiting = this->connect();
  TypeParam lock(waiting, this->kPath);
  Hold hold = lock.acquire();
  PendingHold pending = lock.acquire_async();
  ASSERT_TRUE(this->wait_for_waiters(waiting, 1));
  const std::vector<std::function<void()>> calls{
      [&] { static_cast<void>(lock.acquire()); },
      [&] { lock.lock(); },
      [&] { static_cast<void>(lock.try_acquire_for(kLimit)); },
      [&] { static_cast<void>(lock.try_lock_for(kLimit)); },
  };
  for (const auto& call : calls) {
    Interruptible thread(call);
    ASSERT_TRUE(this->wait_for_waiters(waiting, 2));
    EXPECT_TRUE(thread.interrupt());
    EXPECT_TRUE(this->wait_for_waiters(waiting, 1));
  }
  EXPECT_TRUE(hold.is_valid());
  hold.release();
  EXPECT_TRUE(this->get(pending).is_valid());
}

TYPED_TEST(InterruptionTest, AnInterruptedGet_LeavesTheQueue) {
  Connection& waiting = this->connect();
  TypeParam lock(waiting, this->kPath);
  const Hold hold = lock.acquire();
  PendingHold pending = lock.acquire_async();
  Interruptible thread([&] { static_cast<void>(pending.get()); });
  ASSERT_TRUE(this->wait_for_waiters(waiting, 1));
  EXPECT_TRUE(thread.interrupt());
  EXPECT_TRUE(this->wait_for_waiters(waiting, 0));
  EXPECT_TRUE(pending.ready());
  EXPECT_THROW(static_cast<void>(pending.get()), Cancelled);
}

TYPED_TEST(InterruptionTest, AnInterruptionAtAnyMoment_LeavesNothing) {
  TypeParam lock(this->connect(), this->kPath);
  int interrupted = 0;
  for (int i = 0; i < 30; ++i) {
    Interruptible thread([&] { lock.acquire().release(); });
    // At a different point of the call each time.
    const auto until = Clock::now() + std::chrono::microseconds(100 * i);
    while (Clock::now() < until) std::this_thread::yield();
    interrupted += thread.interrupt() ? 1 : 0;
  }
  EXPECT_TRUE(lock.try_acquire_for(kLimit)) << interrupted << " were interrupted";
}

TYPED_TEST(InterruptionTest, UnlockAndDestructors_AreNotInterrupted) {
  Connection& connection = this->connect();
  TypeParam lock(connection, this->kPath);
  TypeParam other(connection, "/other");
  std::atomic<bool> held{false};
  std::atomic<bool> requested{false};
  Interruptible thread([&] {
    lock.lock();
    {
      const Hold hold = other.acquire();
      held = true;
      wait_for([&] { return requested.load(); });
    }
    lock.unlock();
    boost::this_thread::interruption_point();
  });
  ASSERT_TRUE(wait_for([&] { return held.load(); }));
  thread.request();
  requested = true;
  EXPECT_TRUE(thread.interrupt()) << "later, at the next point that can be interrupted";
  EXPECT_TRUE(this->wait_for_nodes(this->kPath, 0));
  EXPECT_TRUE(this->wait_for_nodes("/other", 0));
}

}  // namespace
}  // namespace zkrecipes::testing
