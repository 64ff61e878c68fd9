// SPDX-License-Identifier: Apache-2.0
#include "connection/callback_lane.h"

#include <atomic>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "connection/task_thread.h"

namespace zkrecipes::detail {
namespace {

using ::testing::ElementsAre;
using Tasks = std::vector<std::function<void()>>;

CallbackLane make_lane(const Executor& executor) {
  return {std::make_unique<TaskThread>("test"), executor ? std::make_shared<const Executor>(executor) : nullptr,
          std::make_shared<const Log>(nullptr)};
}

TEST(CallbackLane, WithoutAnExecutorRunsCallbacksInOrderOnItsThread) {
  CallbackLane lane = make_lane(nullptr);
  std::vector<int> order;
  bool on_thread = false;
  for (int n = 0; n < 3; ++n) lane.post([&, n] { order.push_back(n); });
  lane.post([&] { on_thread = lane.on_this_thread(); });
  lane.finish();
  EXPECT_THAT(order, ElementsAre(0, 1, 2));
  EXPECT_TRUE(on_thread);
}

TEST(CallbackLane, AnExecutorThatRunsInlineRunsOnTheLane) {
  CallbackLane lane = make_lane([](const std::function<void()>& task) { task(); });
  std::vector<int> order;
  bool on_thread = false;
  for (int n = 0; n < 3; ++n) lane.post([&, n] { order.push_back(n); });
  lane.post([&] { on_thread = lane.on_this_thread(); });
  lane.finish();
  EXPECT_THAT(order, ElementsAre(0, 1, 2));
  EXPECT_TRUE(on_thread);
}

TEST(CallbackLane, AnExecutorThatQueuesGetsEachInOrderAndNothingIsWaitedFor) {
  Tasks queue;  // only the lane's thread adds to it
  CallbackLane lane = make_lane([&](std::function<void()> task) { queue.push_back(std::move(task)); });
  std::vector<int> order;
  for (int n = 0; n < 3; ++n) lane.post([&, n] { order.push_back(n); });
  lane.finish();
  EXPECT_EQ(queue.size(), 3u);
  EXPECT_TRUE(order.empty());
  for (const auto& task : queue) task();
  EXPECT_THAT(order, ElementsAre(0, 1, 2));
}

TEST(CallbackLane, AnExecutorWithThreadsRunsEachOnce) {
  std::mutex mutex;
  std::vector<std::thread> threads;
  CallbackLane lane = make_lane([&](std::function<void()> task) {
    const std::lock_guard<std::mutex> lock(mutex);
    threads.emplace_back(std::move(task));
  });
  std::vector<std::atomic<int>> calls(20);
  for (auto& each : calls) lane.post([&] { ++each; });
  lane.finish();
  for (std::thread& thread : threads) thread.join();
  for (const auto& each : calls) EXPECT_EQ(each, 1);
}

TEST(CallbackLane, WhatTheExecutorWasGivenRunsAtMostOnceAndIsThenDestroyed) {
  Tasks queue;
  CallbackLane lane = make_lane([&](const std::function<void()>& task) { queue.assign(3, task); });
  const auto owned = std::make_shared<int>(1);
  int calls = 0;
  lane.post([&calls, owned] { ++calls; });
  lane.finish();
  for (const auto& task : queue) task();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(owned.use_count(), 1) << "although the executor keeps its copies";
}

TEST(CallbackLane, AnExecutorThatNeverRunsAnythingCostsNothingElse) {
  CallbackLane lane = make_lane([](const std::function<void()>&) {});
  const auto owned = std::make_shared<int>(1);
  for (int n = 0; n < 3; ++n) lane.post([owned] { ADD_FAILURE() << "was run"; });
  lane.finish();
  EXPECT_EQ(owned.use_count(), 1);
}

TEST(CallbackLane, WhatTheExecutorKeepsDoesNotKeepAliveWhatOnlyTheHandOverNeeds) {
  Tasks queue;
  CallbackLane lane = make_lane([&](std::function<void()> task) { queue.push_back(std::move(task)); });
  const auto owned = std::make_shared<int>(1), kept = std::make_shared<int>(2);
  lane.post([owned] {}, kept);
  lane.finish();
  EXPECT_EQ(owned.use_count(), 2);
  EXPECT_EQ(kept.use_count(), 1);
}

TEST(CallbackLane, AnExecutorThatThrowsDropsNothing) {
  Tasks queue;
  int given = 0;
  CallbackLane lane = make_lane([&](const std::function<void()>& task) {
    ++given;
    if (given == 2) queue.push_back(task);  // it has it after all
    if (given == 3) task();
    if (given == 4) throw 4;  // NOLINT(hicpp-exception-baseclass): not every program throws std::exception
    throw std::runtime_error("on purpose, by a test");
  });
  std::vector<int> order;
  int on_lane = 0;
  for (int n = 1; n <= 4; ++n)
    lane.post([&, n] {
      order.push_back(n);
      if (lane.on_this_thread()) ++on_lane;
    });
  lane.finish();
  for (const auto& task : queue) task();
  EXPECT_THAT(order, ElementsAre(1, 2, 3, 4)) << "each once";
  EXPECT_EQ(on_lane, 4);
}

TEST(CallbackLane, ACallbackThatThrowsDoesNotReachTheExecutor) {
  int thrown = 0;
  CallbackLane lane = make_lane([&](const std::function<void()>& task) {
    try {
      task();
    } catch (...) {
      ++thrown;
    }
  });
  lane.post([] { throw std::runtime_error("on purpose, by a test"); });
  int calls = 0;
  lane.post([&] { ++calls; });
  lane.finish();
  EXPECT_EQ(thrown, 0);
  EXPECT_EQ(calls, 1);
}

TEST(CallbackLane, WhatWasHandedOverMayOutliveTheLane) {
  Tasks queue;
  int calls = 0;
  {
    CallbackLane lane = make_lane([&](std::function<void()> task) { queue.push_back(std::move(task)); });
    lane.post([&] { ++calls; });
    lane.finish();
  }
  queue.front()();
  EXPECT_EQ(calls, 1);
}

TEST(CallbackLane, InTheChildOfAForkWhatWasHandedOverDoesNothing) {
  Tasks queue;
  CallbackLane lane = make_lane([&](std::function<void()> task) { queue.push_back(std::move(task)); });
  int calls = 0;
  lane.post([&] { ++calls; });
  lane.finish();
  const pid_t child = fork();
  if (child == 0) {
    queue.front()();
    _exit(calls);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  queue.front()();
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace zkrecipes::detail
