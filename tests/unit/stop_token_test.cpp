// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/stop_token.h"

#include <atomic>
#include <gtest/gtest.h>
#include <memory>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "connection/stop_state.h"

namespace zkrecipes {
namespace {

using detail::StopListener;

TEST(StopToken, AnEmptyOne_IsNeverStopped) {
  const StopToken token;
  EXPECT_FALSE(token.stop_possible());
  EXPECT_FALSE(token.stop_requested());
  const StopListener listener(token, [] { FAIL(); });
}

TEST(StopToken, AllCopies_AreStoppedOnce) {
  StopSource source;
  StopSource copy = source;
  const StopToken token = source.token();
  EXPECT_TRUE(token.stop_possible());
  EXPECT_FALSE(token.stop_requested());
  EXPECT_TRUE(copy.request_stop());
  EXPECT_FALSE(source.request_stop());
  EXPECT_TRUE(token.stop_requested());
  EXPECT_TRUE(source.stop_requested());
}

TEST(StopToken, OutlivesItsSource) {
  const StopToken token = StopSource().token();
  EXPECT_FALSE(token.stop_requested());
}

TEST(StopSource, AMovedOne_StopsNothing) {
  StopSource source;
  const StopSource heir = std::move(source);
  EXPECT_FALSE(source.request_stop());  // NOLINT(bugprone-use-after-move): it is promised to be harmless
  EXPECT_FALSE(source.stop_requested());
  EXPECT_FALSE(heir.stop_requested());
}

TEST(StopListener, IsCalledOnce) {
  StopSource source;
  int calls = 0;
  const StopListener listener(source.token(), [&] { ++calls; });
  source.request_stop();
  source.request_stop();
  EXPECT_EQ(calls, 1);
}

TEST(StopListener, AfterItsEnd_IsNotCalled) {
  StopSource source;
  const auto owned = std::make_shared<int>(0);
  {
    const StopListener listener(source.token(), [owned] { FAIL(); });
  }
  EXPECT_EQ(owned.use_count(), 1);
  source.request_stop();
}

TEST(StopListener, RequestedBefore_IsNotCalled) {
  StopSource source;
  source.request_stop();
  const StopListener listener(source.token(), [] { FAIL(); });
}

TEST(StopListener, MayEndItselfAndTheSource) {
  auto source = std::make_unique<StopSource>();
  StopListener listener;
  int calls = 0;
  listener = StopListener(source->token(), [&] {
    listener = StopListener();
    source.reset();
    ++calls;
  });
  source->request_stop();
  EXPECT_EQ(calls, 1);
}

TEST(StopListener, RequestsAndListenersOfSeveralThreads_DoNotDisturbEachOther) {
  for (int round = 0; round < 200; ++round) {
    StopSource source;
    std::atomic<int> calls{0}, first{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) {
      threads.emplace_back([&] {
        const StopListener listener(source.token(), [&] { ++calls; });
        if (!source.token().stop_requested()) std::this_thread::yield();
      });
      threads.emplace_back([&] { first += source.request_stop() ? 1 : 0; });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(first, 1);
    EXPECT_LE(calls, 2);
  }
}

TEST(StopSource, InTheChildOfAFork_StopsWhatTheChildHasBegun) {
  StopSource source;
  bool parents_called = false;
  const StopListener parents(source.token(), [&] { parents_called = true; });
  const pid_t child = fork();
  if (child == 0) {
    bool called = false;
    const StopListener own(source.token(), [&] { called = true; });
    source.request_stop();
    _exit(called && !parents_called ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(source.stop_requested());
}

}  // namespace
}  // namespace zkrecipes
