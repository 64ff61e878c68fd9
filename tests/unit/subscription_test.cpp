// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/subscription.h"

#include <atomic>
#include <csignal>
#include <future>
#include <gtest/gtest.h>
#include <memory>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <type_traits>
#include <unistd.h>
#include <utility>
#include <vector>

#include "connection/slot.h"

namespace zkrecipes::detail {
namespace {

using namespace std::chrono_literals;

constexpr auto kLimit = 30s;
constexpr auto kMoment = 20ms;  // how long to look for something that must not happen

static_assert(!std::is_copy_constructible_v<Subscription> && !std::is_copy_assignable_v<Subscription>);
static_assert(std::is_nothrow_move_constructible_v<Subscription> && std::is_nothrow_move_assignable_v<Subscription>);

LogPtr test_log() {
  return std::make_shared<const Log>(nullptr);
}

std::shared_ptr<CallbackSlot<>> make_slot(std::function<void()> callback) {
  return std::make_shared<CallbackSlot<>>("a callback of the test", std::move(callback), test_log());
}

/// A callback that waits inside until it is let go.
class SlowCallback {
 public:
  void operator()() {
    entered_.set_value();
    left_.get_future().wait();
  }
  bool wait_until_entered() { return entered_.get_future().wait_for(kLimit) == std::future_status::ready; }
  void let_go() { left_.set_value(); }

 private:
  std::promise<void> entered_, left_;
};

TEST(Subscription, AnEmptyOneDoesNothing) {
  Subscription empty;
  EXPECT_FALSE(empty.connected());
  empty.disconnect();
  empty.disconnect_and_wait();
  Subscription other = std::move(empty);
  EXPECT_FALSE(other.connected());
}

TEST(Subscription, TheCallbackIsCalledUntilItIsDisconnected) {
  int calls = 0;
  const auto slot = make_slot([&] { ++calls; });
  Subscription subscription = Slot::subscription(slot);
  EXPECT_TRUE(subscription.connected());
  slot->call();
  slot->call();
  EXPECT_EQ(calls, 2);
  subscription.disconnect();
  EXPECT_FALSE(subscription.connected());
  slot->call();
  subscription.disconnect();
  subscription.disconnect_and_wait();
  EXPECT_EQ(calls, 2);
}

TEST(Subscription, TheDestructorAndTheAssignmentDisconnect) {
  int calls = 0;
  const auto first = make_slot([&] { ++calls; }), second = make_slot([&] { ++calls; });
  {
    Subscription subscription = Slot::subscription(first);
    subscription = Slot::subscription(second);
    EXPECT_FALSE(first->connected());
    EXPECT_TRUE(second->connected());
  }
  EXPECT_FALSE(second->connected());
  first->call();
  second->call();
  EXPECT_EQ(calls, 0);
}

TEST(Subscription, AMovedFromOneIsEmptyAndTheOtherIsConnected) {
  Subscription first = Slot::subscription(make_slot([] {}));
  Subscription second = std::move(first);
  EXPECT_FALSE(first.connected());  // NOLINT(bugprone-use-after-move): it is promised to be empty
  first.disconnect_and_wait();
  EXPECT_TRUE(second.connected());
  Subscription& same = second;
  second = std::move(same);
  EXPECT_TRUE(second.connected()) << "assigned to itself";
}

TEST(Subscription, WhatTheCallbackOwnsIsDestroyedByDisconnect) {
  const auto owned = std::make_shared<int>(1);
  const auto slot = make_slot([owned] {});
  Subscription subscription = Slot::subscription(slot);
  EXPECT_EQ(owned.use_count(), 2);
  slot->call();
  EXPECT_EQ(owned.use_count(), 2) << "nothing is copied for a call";
  subscription.disconnect();
  EXPECT_EQ(owned.use_count(), 1);
}

TEST(Subscription, WhatTheCallbackOwnsMayUseTheSubscription) {
  // Destroyed with a mutex held, this would wait for itself.
  struct Owned {
    std::weak_ptr<Slot> slot;
    ~Owned() {
      if (const auto alive = slot.lock()) {
        EXPECT_FALSE(alive->connected());
        alive->disconnect_and_wait();
      }
    }
  };
  auto owned = std::make_shared<Owned>();
  const auto slot = make_slot([owned] {});
  owned->slot = slot;
  owned = nullptr;
  Slot::subscription(slot).disconnect();
}

TEST(Subscription, ACallbackThatOwnsItsSubscriptionMayEndIt) {
  auto own = std::make_shared<Subscription>();
  const std::weak_ptr<Subscription> observer = own;
  int calls = 0;
  const auto slot = make_slot([own, &calls] {
    ++calls;
    own->disconnect();
    own->disconnect_and_wait();
  });
  *own = Slot::subscription(slot);
  own = nullptr;
  slot->call();
  slot->call();
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(observer.expired());
}

TEST(Subscription, EndedFromOutsideWhileOnlyItsCallbackOwnsIt) {
  auto own = std::make_shared<Subscription>();
  Subscription& borrowed = *own;
  *own = Slot::subscription(make_slot([own] {}));
  own = nullptr;
  borrowed.disconnect();  // destroys the callback, and with it `borrowed`
}

TEST(Subscription, DisconnectDoesNotWaitForARunningCallback) {
  SlowCallback slow;
  const auto owned = std::make_shared<int>(1);
  const auto slot = make_slot([&slow, owned] { slow(); });
  Subscription subscription = Slot::subscription(slot);
  std::thread caller([&] { slot->call(); });
  ASSERT_TRUE(slow.wait_until_entered());
  subscription.disconnect();
  EXPECT_FALSE(subscription.connected());
  EXPECT_EQ(owned.use_count(), 2) << "the running call still needs it";
  slow.let_go();
  caller.join();
  EXPECT_EQ(owned.use_count(), 1);
}

TEST(Subscription, DisconnectAndWaitReturnsWhenTheCallbackHasEndedAndIsDestroyed) {
  SlowCallback slow;
  const auto owned = std::make_shared<int>(1);
  const auto slot = make_slot([&slow, owned] { slow(); });
  Subscription subscription = Slot::subscription(slot);
  std::thread caller([&] { slot->call(); });
  ASSERT_TRUE(slow.wait_until_entered());
  auto waiting = std::async(std::launch::async, [&] {
    subscription.disconnect_and_wait();
    return owned.use_count();
  });
  EXPECT_EQ(waiting.wait_for(kMoment), std::future_status::timeout);
  slow.let_go();
  EXPECT_EQ(waiting.get(), 1);
  caller.join();
}

TEST(Subscription, DisconnectAndWaitWaitsForCallsOnSeveralThreads) {
  SlowCallback first, second;
  std::atomic<int> calls{0};
  const auto slot = make_slot([&] { calls++ == 0 ? first() : second(); });
  Subscription subscription = Slot::subscription(slot);
  std::thread one([&] { slot->call(); });
  ASSERT_TRUE(first.wait_until_entered());
  std::thread two([&] { slot->call(); });
  ASSERT_TRUE(second.wait_until_entered());
  auto waiting = std::async(std::launch::async, [&] { subscription.disconnect_and_wait(); });
  first.let_go();
  one.join();
  EXPECT_EQ(waiting.wait_for(kMoment), std::future_status::timeout);
  second.let_go();
  EXPECT_EQ(waiting.wait_for(kLimit), std::future_status::ready);
  two.join();
}

TEST(Subscription, CallsOnSeveralThreadsThatAllDisconnectAndWaitDoNotWaitForEachOther) {
  Subscription subscription;
  std::atomic<int> inside{0};
  const auto slot = make_slot([&] {
    ++inside;
    while (inside < 2) std::this_thread::yield();
    subscription.disconnect_and_wait();
  });
  subscription = Slot::subscription(slot);
  std::thread one([&] { slot->call(); }), two([&] { slot->call(); });
  one.join();
  two.join();
  EXPECT_FALSE(subscription.connected());
}

TEST(Subscription, ACallbackMayDisconnectAndWaitForAnotherOneOfItsThread) {
  int calls = 0;
  const auto other = make_slot([&] { ++calls; });
  Subscription to_other = Slot::subscription(other);
  const auto slot = make_slot([&] { to_other.disconnect_and_wait(); });
  const Subscription subscription = Slot::subscription(slot);
  slot->call();
  other->call();
  EXPECT_EQ(calls, 0);
}

TEST(Subscription, DisconnectAndWaitInACallThatWasStartedInsideTheCallbackDoesNotWaitForItself) {
  Subscription outer;
  const auto inner_slot = make_slot([&] { outer.disconnect_and_wait(); });
  const Subscription inner = Slot::subscription(inner_slot);
  const auto outer_slot = make_slot([&] { inner_slot->call(); });
  outer = Slot::subscription(outer_slot);
  outer_slot->call();
  EXPECT_FALSE(outer.connected());
}

TEST(Subscription, ACallbackThatThrowsStaysConnected) {
  const auto slot = make_slot([] { throw std::runtime_error("on purpose, by a test"); });
  Subscription subscription = Slot::subscription(slot);
  slot->call();
  EXPECT_TRUE(subscription.connected());
  subscription.disconnect_and_wait();
}

TEST(Subscription, DisconnectRacesWithCalls) {
  for (int round = 0; round < 200; ++round) {
    auto used = std::make_unique<int>(0);  // AddressSanitizer and ThreadSanitizer look at it
    const auto slot = make_slot([raw = used.get()] { ++*raw; });
    Subscription subscription = Slot::subscription(slot);
    std::atomic<bool> started{false};
    std::thread caller([&] {
      for (int n = 0; n < 50; ++n) {
        slot->call();
        started = true;
      }
    });
    while (!started) std::this_thread::yield();
    subscription.disconnect_and_wait();
    used = nullptr;
    caller.join();
  }
}

TEST(Subscribers, AreCalledInOrderAndEndedOnesAreForgotten) {
  Subscribers<int> subscribers;
  std::vector<int> order;
  std::vector<Subscription> kept;
  for (int n = 0; n < 1000; ++n) {
    const auto slot = std::make_shared<CallbackSlot<int>>(
        "a callback of the test", [&order, n](int) { order.push_back(n); }, test_log());
    subscribers.add(slot);
    Subscription subscription = Slot::subscription(slot);
    if (n % 100 == 0) kept.push_back(std::move(subscription));
  }
  EXPECT_EQ(subscribers.connected().size(), kept.size());
  for (const auto& slot : subscribers.connected()) slot->call(1);
  EXPECT_EQ(order, (std::vector<int>{0, 100, 200, 300, 400, 500, 600, 700, 800, 900}));
}

TEST(Subscribers, TheEndOfWhatWasSubscribedToDisconnects) {
  const auto owned = std::make_shared<int>(1);
  Subscription subscription;
  {
    Subscribers<> subscribers;
    const auto slot = make_slot([owned] {});
    subscribers.add(slot);
    subscription = Slot::subscription(slot);
    EXPECT_TRUE(subscription.connected());
  }
  EXPECT_FALSE(subscription.connected());
  EXPECT_EQ(owned.use_count(), 1);
}

TEST(Subscription, InTheChildOfAForkNothingHangs) {
  SlowCallback slow;
  const auto slot = make_slot([&] { slow(); });
  auto subscription = std::make_unique<Subscription>(Slot::subscription(slot));
  std::thread caller([&] { slot->call(); });
  ASSERT_TRUE(slow.wait_until_entered());
  // A thread that waits for the condition at the moment of the fork; the callback must not end before.
  std::atomic<bool> waits{false};
  std::thread waiter([&] {
    waits = true;
    slot->disconnect_and_wait();
  });
  while (!waits || slot->connected()) std::this_thread::yield();
  const pid_t child = fork();
  if (child == 0) {
    const bool connected = subscription->connected();
    slot->call();
    subscription->disconnect();
    subscription->disconnect_and_wait();
    subscription = nullptr;
    _exit(connected ? 1 : 0);
  }
  int status = 0;
  const auto deadline = std::chrono::steady_clock::now() + kLimit;
  pid_t ended = 0;
  while ((ended = waitpid(child, &status, WNOHANG)) == 0 && std::chrono::steady_clock::now() < deadline)
    std::this_thread::yield();
  if (ended == 0) {
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
  }
  slow.let_go();
  waiter.join();
  caller.join();
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

}  // namespace
}  // namespace zkrecipes::detail
