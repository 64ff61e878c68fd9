// SPDX-License-Identifier: Apache-2.0
// After fork() the calls of the child are refused, and nothing that it does to its copies disturbs the parent.
#include <iostream>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/recipes/lock_types.h"
#include "tests/recipes/recipe_test.h"

namespace zkrecipes::testing {
namespace {

template <class Lock>
class ForkTest : public RecipeTest {
 protected:
  /// Runs the work in a child, which ends without destructors; its result is the child's exit status, or -1 if it had
  /// to be killed.
  static int in_child(const std::function<int()>& work) {
    const pid_t child = fork();
    if (child == 0) {
      int result = 100;
      try {
        result = work();
      } catch (...) {
        result = 101;
      }
      _exit(result);
    }
    int status = 0;
    const bool ended = wait_for([&] { return waitpid(child, &status, WNOHANG) == child; });
    if (!ended) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return -1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  static int refused(const std::function<void()>& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.code() == ErrorCode::forked ? 0 : 1;
    }
    return 2;
  }
};

TYPED_TEST_SUITE(ForkTest, LockTypes, LockTypeNames);

TYPED_TEST(ForkTest, TheChild_IsRefused) {
  Connection& connection = this->connect();
  TypeParam lock(connection, this->kPath);
  Hold hold = lock.acquire();
  PendingHold waiting = lock.acquire_async();
  ASSERT_TRUE(this->wait_for_waiters(connection, 1));
  const std::vector<std::function<void()>> calls{
      [&] { static_cast<void>(lock.acquire()); },
      [&] { static_cast<void>(lock.try_acquire()); },
      [&] { static_cast<void>(lock.try_acquire_for(1s)); },
      [&] { static_cast<void>(lock.acquire_async()); },
      [&] { lock.lock(); },
      [&] { hold.release(); },
      [&] { static_cast<void>(waiting.get()); },
      [&] { static_cast<void>(contenders(connection, this->kPath)); },
      [&] { request_revoke(connection, hold.node()); },
  };
  for (std::size_t i = 0; i < calls.size(); ++i)
    EXPECT_EQ(this->in_child([&] { return this->refused(calls[i]); }), 0) << "call " << i;
  EXPECT_EQ(this->in_child([&] { return hold.is_valid() ? 1 : 0; }), 0) << "the child holds nothing";
  EXPECT_TRUE(hold.is_valid());
  hold.release();
  EXPECT_TRUE(this->get(waiting).is_valid());
}

TYPED_TEST(ForkTest, WhatTheChildDestroys_TheParentKeeps) {
  Connection& connection = this->connect();
  auto lock = std::make_unique<TypeParam>(connection, this->kPath);
  auto hold = std::make_unique<Hold>(lock->acquire());
  auto locked = std::make_unique<TypeParam>(connection, "/locked");
  locked->lock();
  auto waiting = std::make_unique<PendingHold>(lock->acquire_async());
  ASSERT_TRUE(this->wait_for_waiters(connection, 1));
  CallCount lost;
  const Subscription subscription = hold->on_lost(lost.handler());
  EXPECT_EQ(this->in_child([&] {
    waiting->cancel();
    waiting.reset();
    hold.reset();
    lock.reset();
    locked->unlock();
    locked.reset();
    return 0;
  }),
            0);
  EXPECT_TRUE(hold->is_valid());
  EXPECT_TRUE(this->node_exists(hold->node()));
  EXPECT_TRUE(locked->is_held());
  EXPECT_FALSE(waiting->ready());
  locked->unlock();
  hold->release();
  EXPECT_TRUE(this->get(*waiting).is_valid());
  EXPECT_EQ(lost.count(), 0);
}

TYPED_TEST(ForkTest, SubscriptionsOfTheParent_DoNothingInTheChild) {
  Connection& connection = this->connect();
  TypeParam lock(connection, this->kPath);
  const Hold hold = lock.acquire();
  CallCount called;
  auto lost = std::make_unique<Subscription>(hold.on_lost(called.handler()));
  auto state = std::make_unique<Subscription>(connection.on_state_change([&](ConnectionState) { called.handler()(); }));
  EXPECT_EQ(this->in_child([&] { return this->refused([&] { static_cast<void>(hold.on_lost([] {})); }); }), 0);
  EXPECT_EQ(this->in_child([&] {
    const bool connected = lost->connected() || state->connected();
    lost->disconnect();
    state->disconnect_and_wait();
    lost.reset();
    state.reset();
    return connected ? 1 : 0;
  }),
            0);
  EXPECT_TRUE(lost->connected());
  EXPECT_TRUE(state->connected());
}

/// The parent uses every part of the library from several threads, so that a mutex that the whole process shares is
/// likely to be locked at the moment of a fork.
class BusyParent : public ControlledRecipeTest {
 protected:
  static constexpr int kForks = 200;

  /// A child should be able to use a connection and a lock of its own.
  static int take_a_lock(const ConnectionOptions& options, const std::string& path) {
    try {
      Connection connection(options);
      if (!connection.wait_until_connected(20s)) return 2;
      FairMutex lock(connection, path);
      const Hold hold = lock.acquire();
      return hold.is_valid() ? 0 : 3;
    } catch (...) {
      return 4;
    }
  }
};

TEST_F(BusyParent, WhatAChildAsksTheParentsLocks_IsAnsweredOrRefusedAtOnce) {
  ConnectionOptions unconnected;  // so that the acquires below cost no server anything
  unconnected.servers = "127.0.0.1:1";
  unconnected.log = [](LogSeverity, const std::string&) {};
  Connection connection(unconnected);
  FairMutex mutex(connection, "/mutex");
  RecursiveFairMutex recursive(connection, "/recursive");
  RecursiveReadWriteLock read_write(connection, "/read_write");
  StopSource source;
  std::atomic<bool> stop{false};
  Crowd crowd;
  crowd.add([&] {
    while (!stop) static_cast<void>(mutex.is_held());
  });
  crowd.add([&] {
    while (!stop) static_cast<void>(recursive.depth());
  });
  crowd.add([&] {
    while (!stop) static_cast<void>(read_write.is_held());
  });
  crowd.add([&] {
    AcquireOptions options;
    options.stop = source.token();
    while (!stop) static_cast<void>(mutex.acquire_async(options));
  });
  const auto refused = [](const std::function<void()>& call) {
    return error_of(call) == make_error_code(ErrorCode::forked);
  };
  const auto ask = [&] {
    if (mutex.is_held() || recursive.is_held() || read_write.is_held() || read_write.is_held_shared()) return 1;
    if (recursive.depth() + read_write.depth() + read_write.depth_shared() != 0) return 2;
    for (const auto& call : std::vector<std::function<void()>>{
             [&] { static_cast<void>(mutex.fencing_token()); },
             [&] { static_cast<void>(mutex.node()); },
             [&] { static_cast<void>(recursive.fencing_token()); },
             [&] { static_cast<void>(read_write.node()); },
             [&] { static_cast<void>(read_write.on_lost_shared([] {})); },
         })
      if (!refused(call)) return 3;
    recursive.unlock();
    read_write.unlock();
    return source.request_stop() ? 0 : 4;
  };
  int failed = 0;
  for (int n = 0; n < kForks && failed < 3; ++n) {
    const pid_t child = fork();
    if (child == 0) _exit(ask());
    int status = 0;
    if (!wait_for([&] { return waitpid(child, &status, WNOHANG) == child; }, 5s)) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
    }
    if (status != 0) ++failed;
  }
  stop = true;
  crowd.join();
  EXPECT_EQ(failed, 0);
  EXPECT_FALSE(source.stop_requested()) << "the child has stopped its own copy";
}

TEST_F(BusyParent, AChildOpensAConnectionOfItsOwnAndTakesALock) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer ends a forked process that starts threads";
#endif
  Connection& connection = connect();
  create_node("/children");
  const ConnectionOptions own = options();
  std::atomic<bool> stop{false};
  Crowd crowd;
  for (int n = 0; n < 3; ++n)
    crowd.add([&, n] {
      FairMutex lock(connection, "/busy" + std::to_string(n));
      while (!stop) lock.acquire().release();
    });
  crowd.add([&] {
    while (!stop) {
      Connection shortly(own);
      shortly.wait_until_connected(kLimit);
    }
  });
  int failed = 0, hung = 0;
  for (int n = 0; n < kForks; ++n) {
    const std::string path = "/children/" + std::to_string(n % 8);
    const pid_t child = fork();
    if (child == 0) _exit(take_a_lock(own, path));
    int status = 0;
    if (!wait_for([&] { return waitpid(child, &status, WNOHANG) == child; })) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      ++hung;
    } else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
      ADD_FAILURE() << "child " << n << ": " << status;
      ++failed;
    }
  }
  stop = true;
  crowd.join();
  std::cout << kForks << " forks: " << hung << " children hung, " << failed << " failed\n";
  EXPECT_EQ(hung, 0);
}

}  // namespace
}  // namespace zkrecipes::testing
