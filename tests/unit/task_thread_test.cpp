// SPDX-License-Identifier: Apache-2.0
#include "connection/task_thread.h"

#include <atomic>
#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

#include "tests/support/fake_threads.h"

namespace zkrecipes::detail {
namespace {

using namespace std::chrono_literals;
using Rest = TaskThread::Rest;
using ::testing::ElementsAre;

constexpr auto kLimit = 30s;

TEST(TaskThread, RunsTasksInOrderOnItsOwnThread) {
  TaskThread thread("test");
  std::vector<int> order;
  std::promise<void> done;
  bool on_thread = false;
  for (int n = 0; n < 1000; ++n) thread.post([&, n] { order.push_back(n); });
  thread.post([&] {
    on_thread = thread.on_this_thread();
    done.set_value();
  });
  ASSERT_EQ(done.get_future().wait_for(kLimit), std::future_status::ready);
  EXPECT_TRUE(on_thread);
  EXPECT_FALSE(thread.on_this_thread());
  ASSERT_EQ(order.size(), 1000u);
  for (int n = 0; n < 1000; ++n) EXPECT_EQ(order[static_cast<std::size_t>(n)], n);
}

TEST(TaskThread, TasksOfEachOfSeveralThreadsKeepTheirOrder) {
  TaskThread thread("test");
  std::vector<std::vector<int>> seen(3);
  std::vector<std::thread> posters;
  for (int poster = 0; poster < 3; ++poster)
    posters.emplace_back([&, poster] {
      for (int n = 0; n < 500; ++n)
        thread.post([&seen, poster, n] { seen[static_cast<std::size_t>(poster)].push_back(n); });
    });
  for (std::thread& poster : posters) poster.join();
  thread.drain();
  for (const auto& each : seen) {
    ASSERT_EQ(each.size(), 500u);
    EXPECT_TRUE(std::is_sorted(each.begin(), each.end()));
  }
}

TEST(TaskThread, TimedTasksRunWhenDueAndNotInTheOrderOfPosting) {
  TaskThread thread("test");
  std::vector<int> order;
  std::promise<void> done;
  const auto now = Clock::now();
  Clock::time_point ran;
  thread.post_at(now + 60ms, [&] {
    order.push_back(3);
    ran = Clock::now();
    done.set_value();
  });
  thread.post_at(now + 20ms, [&] { order.push_back(1); });
  thread.post_at(now + 40ms, [&] { order.push_back(2); });
  thread.post([&] { order.push_back(0); });
  ASSERT_EQ(done.get_future().wait_for(kLimit), std::future_status::ready);
  EXPECT_THAT(order, ElementsAre(0, 1, 2, 3));
  EXPECT_GE(ran, now + 60ms);
}

TEST(TaskThread, DrainRunsTimersAheadOfTimeAndWhatTheyBring) {
  TaskThread thread("test");
  std::vector<int> order;
  thread.post_at(Clock::now() + 1h, [&] {
    order.push_back(1);
    thread.post([&] {
      order.push_back(2);
      thread.post_at(Clock::now() + 1h, [&] { order.push_back(3); });
    });
  });
  thread.drain();
  EXPECT_THAT(order, ElementsAre(1, 2, 3));
}

TEST(TaskThread, DrainOfAnIdleOrUnusedThreadReturns) {
  TaskThread thread("test");
  thread.drain();
  thread.post([] {});
  thread.drain();
  thread.drain();
}

TEST(TaskThread, TimersKeepTheirTimeAfterADrain) {
  TaskThread thread("test");
  thread.post([] {});
  thread.drain();
  std::atomic<bool> early{false};
  thread.post_at(Clock::now() + 1h, [&] { early = true; });
  std::promise<void> done;
  thread.post_at(Clock::now() + 20ms, [&] { done.set_value(); });
  ASSERT_EQ(done.get_future().wait_for(kLimit), std::future_status::ready);
  EXPECT_FALSE(early.load());
}

TEST(TaskThread, ThrownExceptionsAreLoggedAndTheNextTaskRuns) {
  TaskThread thread("test");
  bool ran = false;
  thread.post([] { throw std::runtime_error("on purpose, by a test"); });
  thread.post([] { throw 42; });
  thread.post([&] { ran = true; });
  thread.drain();
  EXPECT_TRUE(ran);
}

TEST(TaskThread, StopRunsWhatWasPostedBeforeIfToldSo) {
  TaskThread thread("test");
  int ran = 0;
  for (int n = 0; n < 100; ++n) thread.post([&] { ++ran; });
  bool timer_ran = false;
  thread.post_at(Clock::now() + 1h, [&] { timer_ran = true; });
  thread.stop(Rest::run);
  EXPECT_EQ(ran, 100);
  EXPECT_FALSE(timer_ran);
  thread.post([&] { ++ran; });
  thread.drain();
  EXPECT_EQ(ran, 100) << "posts after the stop are dropped";
  thread.stop(Rest::run);
}

TEST(TaskThread, StopDropsTheRestAndDestroysIt) {
  TaskThread thread("test");
  std::promise<void> started;
  std::promise<void> may_end;
  const auto token = std::make_shared<int>(0);
  std::atomic<int> ran{0};
  thread.post([&] {
    started.set_value();
    may_end.get_future().wait();
  });
  for (int n = 0; n < 10; ++n) thread.post([&ran, token] { ++ran; });
  thread.post_at(Clock::now() + 1h, [token] {});
  started.get_future().wait();
  std::thread release([&] {
    std::weak_ptr<int> in_task;  // a task is refused, and destroyed, once stop() has begun
    do {
      auto owned = std::make_shared<int>(0);
      in_task = owned;
      thread.post([owned = std::move(owned)] {});
      std::this_thread::yield();
    } while (!in_task.expired());
    may_end.set_value();
  });
  thread.stop(Rest::drop);
  release.join();
  EXPECT_EQ(ran.load(), 0);
  EXPECT_EQ(token.use_count(), 1);
}

TEST(TaskThread, FinishRunsEverythingAndALaterPostStartsTheThreadAgain) {
  TaskThread thread("test");
  thread.finish();
  int ran = 0;
  for (int round = 1; round <= 50; ++round) {
    for (int n = 0; n < 10; ++n) thread.post([&] { ++ran; });
    thread.finish();
    EXPECT_EQ(ran, 10 * round);
    EXPECT_EQ(thread.posted(), static_cast<std::uint64_t>(10 * round));
  }
}

TEST(TaskThread, FinishOnItsOwnThreadDoesNotWaitAndAnotherThreadsFinishDoes) {
  TaskThread thread("test");
  std::promise<void> finished;
  std::promise<void> may_end;
  std::atomic<bool> ended{false};
  thread.post([&] {
    thread.finish();
    finished.set_value();
    may_end.get_future().wait();
    ended = true;
  });
  ASSERT_EQ(finished.get_future().wait_for(kLimit), std::future_status::ready);
  std::thread release([&] { may_end.set_value(); });
  thread.finish();
  EXPECT_TRUE(ended.load());
  release.join();
}

TEST(TaskThread, AfterAFinishTasksStillRunOneAtATimeAndInOrder) {
  TaskThread thread("test");
  thread.finish();
  std::vector<int> order;
  std::atomic<int> inside{0};
  std::atomic<bool> overlap{false};
  for (int n = 0; n < 2000; ++n)
    thread.post([&, n] {
      if (inside.fetch_add(1) != 0) overlap = true;
      order.push_back(n);
      inside.fetch_sub(1);
    });
  thread.finish();
  EXPECT_FALSE(overlap.load());
  ASSERT_EQ(order.size(), 2000u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(TaskThread, AThreadThatHasEndedByItselfCanBeDestroyed) {
  for (int n = 0; n < 50; ++n) {
    TaskThread thread("test");
    thread.finish_soon();
    std::promise<void> done;
    thread.post([&] { done.set_value(); });
    done.get_future().wait();
  }
}

TEST(TaskThread, AbandonedThreadFinishesItsTaskUnattended) {
  std::promise<void> may_end;
  const auto ended = std::make_shared<std::promise<void>>();
  {
    TaskThread thread("test");
    std::promise<void> started;
    thread.post([&started, ended, gate = may_end.get_future().share()] {
      started.set_value();
      gate.wait();
      ended->set_value();
    });
    started.get_future().wait();
    thread.stop(Rest::abandon);
  }
  may_end.set_value();
  ASSERT_EQ(ended->get_future().wait_for(kLimit), std::future_status::ready);
}

TEST(TaskThread, StopOnItsOwnThreadDoesNotWaitForItself) {
  TaskThread thread("test");
  std::promise<void> stopped;
  std::promise<void> rest;
  thread.post([&] {
    thread.post([&] { rest.set_value(); });
    thread.stop(Rest::run);
    stopped.set_value();
  });
  ASSERT_EQ(stopped.get_future().wait_for(kLimit), std::future_status::ready);
  ASSERT_EQ(rest.get_future().wait_for(kLimit), std::future_status::ready) << "the rest is still run";
}

TEST(TaskThread, MayBeDestroyedByItsOwnTask) {
  auto thread = std::make_unique<TaskThread>("test");
  TaskThread& reference = *thread;
  std::promise<void> done;
  reference.post([&done, owner = std::shared_ptr<TaskThread>(std::move(thread))]() mutable {
    owner.reset();
    done.set_value();
  });
  ASSERT_EQ(done.get_future().wait_for(kLimit), std::future_status::ready);
}

TEST(TaskThread, TaskMayPostFromItsDestructor) {
  TaskThread thread("test");
  std::atomic<bool> posted{false};
  struct Poster {
    TaskThread& thread;
    std::atomic<bool>& posted;
    ~Poster() {
      thread.post([this_posted = &posted] { *this_posted = true; });
    }
  };
  thread.post([poster = std::make_shared<Poster>(Poster{thread, posted})] {});
  thread.drain();
  EXPECT_TRUE(posted.load());
}

TEST(TaskThread, ATaskForWhichThereIsNoThread_WaitsUntilThereIsOne) {
  TaskThread other("other");  // whose thread tries again
  other.start();
  TaskThread thread("test");
  std::promise<void> done;
  {
    const testing::NoThreads none;
    thread.post([&] { done.set_value(); });
    other.drain();
    other.post([] {});
  }
  EXPECT_EQ(done.get_future().wait_for(kLimit), std::future_status::ready);
}

TEST(TaskThread, WithoutAThread_WhatWaitsForTheTasksRunsThem) {
  const testing::NoThreads none;
  int ran = 0;
  for (const auto& wait : std::vector<std::function<void(TaskThread&)>>{
           [](TaskThread& thread) { thread.finish(); },
           [](TaskThread& thread) { thread.drain(); },
           [](TaskThread& thread) { thread.stop(Rest::run); },
       }) {
    TaskThread thread("test");
    thread.post([&] {
      EXPECT_TRUE(thread.on_this_thread());
      ++ran;
      thread.post([&] { ++ran; });
    });
    wait(thread);
    EXPECT_FALSE(thread.on_this_thread());
  }
  EXPECT_EQ(ran, 6);
}

TEST(TaskThread, AStartWithoutAThread_Throws) {
  TaskThread thread("test");
  {
    const testing::NoThreads none;
    EXPECT_THROW(thread.start(), std::system_error);
  }
  thread.start();
  const testing::NoThreads none;
  std::promise<void> done;
  thread.post([&] { done.set_value(); });
  EXPECT_EQ(done.get_future().wait_for(kLimit), std::future_status::ready) << "it has one already";
}

}  // namespace
}  // namespace zkrecipes::detail
