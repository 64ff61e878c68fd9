// SPDX-License-Identifier: Apache-2.0
#include "connection/event_feed.h"

#include <atomic>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdexcept>
#include <thread>
#include <vector>

#include "connection/thread_role.h"

namespace zkrecipes::detail {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

LockWaiting event(int number) {
  LockWaiting waiting;
  waiting.queue_position = number;
  return waiting;
}

/// Remembers the numbers of the events, and does something with each first.
class Recorder : public Observer {
 public:
  void on_waiting(const LockWaiting& waiting) override {
    numbers.push_back(waiting.queue_position);
    if (first) std::exchange(first, nullptr)();
  }
  std::vector<int> numbers;
  std::function<void()> first;
};

class EventFeedTest : public ::testing::Test {
 protected:
  const std::shared_ptr<Recorder> recorder = std::make_shared<Recorder>();
  std::vector<std::string> lines;
  EventFeed feed{recorder,
                 std::make_shared<const Log>([this](LogSeverity, const std::string& line) { lines.push_back(line); })};
};

TEST_F(EventFeedTest, RecordedEvents_WaitUntilTheyAreDelivered) {
  feed.record(event(1));
  feed.record(event(2));
  EXPECT_TRUE(recorder->numbers.empty());
  feed.deliver();
  feed.deliver();
  EXPECT_THAT(recorder->numbers, ElementsAre(1, 2));
}

TEST_F(EventFeedTest, AnEventInsideTheObserver_FollowsTheOthers) {
  recorder->first = [this] {
    feed.record(event(3));
    feed.deliver();
    EXPECT_THAT(recorder->numbers, ElementsAre(1));
  };
  feed.record(event(1));
  feed.record(event(2));
  feed.deliver();
  EXPECT_THAT(recorder->numbers, ElementsAre(1, 2, 3));
}

TEST_F(EventFeedTest, AnException_IsLoggedAndTheNextEventFollows) {
  recorder->first = [] { throw std::runtime_error("out of labels"); };
  feed.record(event(1));
  feed.record(event(2));
  feed.deliver();
  EXPECT_THAT(recorder->numbers, ElementsAre(1, 2));
  EXPECT_THAT(lines, ElementsAre(HasSubstr("observer threw: out of labels")));
}

TEST_F(EventFeedTest, InsideTheObserver_TheThreadIsTheLibrarys) {
  bool inside = false;
  recorder->first = [&] { inside = ThreadRole::is_library(); };
  feed.record(event(1));
  feed.deliver();
  EXPECT_TRUE(inside);
  EXPECT_FALSE(ThreadRole::is_library());
}

TEST_F(EventFeedTest, AThreadThatFindsAnotherDelivering_LeavesItsEventsToIt) {
  std::atomic<bool> left{false};
  recorder->first = [&] {
    std::thread([&] {
      feed.record(event(2));
      feed.deliver();  // returns although the first event is still being delivered
      left = true;
    }).join();
  };
  feed.record(event(1));
  feed.deliver();
  EXPECT_TRUE(left);
  EXPECT_THAT(recorder->numbers, ElementsAre(1, 2));
}

TEST_F(EventFeedTest, ManyThreads_LoseNothingAndKeepTheOrderOfEach) {
  constexpr int kThreads = 4, kEvents = 2'000;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([this, thread] {
      for (int i = 0; i < kEvents; ++i) {
        feed.record(event(i * kThreads + thread));
        feed.deliver();
      }
    });
  for (std::thread& thread : threads) thread.join();
  ASSERT_EQ(recorder->numbers.size(), static_cast<std::size_t>(kThreads) * kEvents);
  std::vector<int> next(kThreads, 0);
  for (const int number : recorder->numbers) EXPECT_EQ(number / kThreads, next[number % kThreads]++);
}

}  // namespace
}  // namespace zkrecipes::detail
