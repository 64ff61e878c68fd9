// SPDX-License-Identifier: Apache-2.0
#include "connection/session.h"

#include <atomic>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace zkrecipes::detail {
namespace {

using namespace std::chrono_literals;

const Lease::Time kStart{1000s};

TEST(Lease, LastsItsLengthFromTheStart) {
  Lease lease(kStart, 10s);
  EXPECT_TRUE(lease.is_valid(kStart + 10s - 1ns));
  EXPECT_EQ(lease.valid_until(), kStart + 10s);
  EXPECT_FALSE(lease.is_valid(kStart + 10s));
}

TEST(Lease, IsCountedFromTheSendTimeOfWhatProvedIt) {
  Lease lease(kStart, 10s);
  EXPECT_TRUE(lease.renew(kStart + 3s, kStart + 9s, true));
  EXPECT_EQ(lease.valid_until(), kStart + 13s);
}

TEST(Lease, IsNotShortenedByALateAnswerToAnOldRequest) {
  Lease lease(kStart, 10s);
  lease.renew(kStart + 5s, kStart + 6s, true);
  EXPECT_TRUE(lease.renew(kStart + 2s, kStart + 7s, true));
  EXPECT_EQ(lease.valid_until(), kStart + 15s);
}

TEST(Lease, ProofAfterTheDeadlineDoesNotReviveTheLease) {
  Lease lease(kStart, 10s);
  EXPECT_FALSE(lease.renew(kStart + 9s, kStart + 10s, true));
  EXPECT_TRUE(lease.ended());
  EXPECT_FALSE(lease.is_valid(kStart + 1s));
  EXPECT_EQ(lease.valid_until(), kStart + 10s);
}

TEST(Lease, OnceSeenToBeOverItNeverComesBack) {
  Lease lease(kStart, 10s);
  EXPECT_FALSE(lease.is_valid(kStart + 11s));
  EXPECT_FALSE(lease.renew(kStart + 9s, kStart + 9s, true));
  EXPECT_FALSE(lease.is_valid(kStart));
  EXPECT_TRUE(lease.ended());
}

TEST(Lease, EndedEarlySaysWhen) {
  Lease lease(kStart, 10s);
  lease.end(kStart + 4s);
  EXPECT_FALSE(lease.is_valid(kStart + 1s));
  EXPECT_EQ(lease.valid_until(), kStart + 4s);
  lease.end(kStart + 2s);
  EXPECT_EQ(lease.valid_until(), kStart + 4s) << "the end of what has ended changes nothing";
}

TEST(Lease, EndedLateKeepsTheDeadlineThatWasMissed) {
  Lease lease(kStart, 10s);
  lease.end(kStart + 40s);
  EXPECT_EQ(lease.valid_until(), kStart + 10s);
}

TEST(Lease, NoReaderSeesItComeBackWhileOthersRenewIt) {
  for (int round = 0; round < 200; ++round) {
    Lease lease(kStart, 1000ns);
    std::atomic<std::int64_t> now{0};
    std::atomic<int> resurrections{0};
    std::vector<std::thread> threads;
    for (int n = 0; n < 2; ++n)
      threads.emplace_back([&] {
        bool was_over = false;
        while (now.load() < 3000) {
          const bool valid = lease.is_valid(kStart + std::chrono::nanoseconds(now.load()));
          if (valid && was_over) ++resurrections;
          was_over = was_over || !valid;
        }
      });
    threads.emplace_back([&] {
      bool refused = false;
      while (now.load() < 3000) {
        const auto at = kStart + std::chrono::nanoseconds(now.load());
        const bool taken = lease.renew(at - 400ns, at, true);
        if (taken && refused) ++resurrections;
        refused = refused || !taken;
      }
    });
    // Jumps longer than the lease, as a paused process sees time.
    for (const std::int64_t time : {300, 600, 900, 2200, 2600, 3000}) now.store(time);
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(resurrections.load(), 0);
  }
}

TEST(Lease, ThatNobodyReliesOnMayRunOutAndBeRenewed) {
  Lease lease(kStart, 10s);
  EXPECT_FALSE(lease.covers(kStart + 12s));
  EXPECT_TRUE(lease.renew(kStart + 12s, kStart + 13s, false));
  EXPECT_TRUE(lease.covers(kStart + 21s));
  EXPECT_TRUE(lease.is_valid(kStart + 21s));
  EXPECT_EQ(lease.proved_at(), kStart + 12s);
}

TEST(Lease, ShortenedIsCountedFromTheNewestProofAndNeverGrowsAgain) {
  Lease lease(kStart, 10s);
  lease.renew(kStart + 2s, kStart + 3s, true);
  lease.shorten(4s);
  EXPECT_EQ(lease.valid_until(), kStart + 6s);
  lease.shorten(10s);
  EXPECT_EQ(lease.valid_until(), kStart + 6s);
  EXPECT_TRUE(lease.renew(kStart + 5s, kStart + 5s, true));
  EXPECT_EQ(lease.valid_until(), kStart + 9s);
  EXPECT_FALSE(lease.is_valid(kStart + 9s));
}

class SessionTest : public ::testing::Test {
 protected:
  Session session_{42, 8s, kStart, 2s};
};

TEST_F(SessionTest, LeaseIsTheTimeoutLessTheMargin) {
  EXPECT_EQ(session_.id(), 42);
  EXPECT_EQ(session_.timeout(), 8s);
  EXPECT_EQ(session_.lease().valid_until(), kStart + 6s);
  EXPECT_FALSE(session_.is_over());
}

TEST_F(SessionTest, ShorterTimeoutOfAReconnectShortensTheLeasesAtOnce) {
  session_.renegotiated(4s, 1s);
  EXPECT_EQ(session_.timeout(), 4s);
  EXPECT_EQ(session_.lease().valid_until(), kStart + 3s);
  EXPECT_EQ(session_.contact().valid_until(), kStart + 3s);
}

TEST_F(SessionTest, LongerTimeoutOfAReconnectDoesNotLengthenThem) {
  session_.renegotiated(20s, 5s);
  EXPECT_EQ(session_.timeout(), 20s);
  EXPECT_EQ(session_.shortest_timeout(), 8s) << "heartbeats keep their pace";
  EXPECT_EQ(session_.lease().valid_until(), kStart + 6s) << "a new leader goes by the first timeout";
}

TEST_F(SessionTest, IsProvedForHalfOfItsLease) {
  EXPECT_TRUE(session_.is_proved(kStart + 3s - 1ns));
  EXPECT_FALSE(session_.is_proved(kStart + 3s));
  EXPECT_FALSE(session_.is_proved(kStart + 60s));
  session_.lease().renew(kStart + 60s, kStart + 61s, false);
  EXPECT_TRUE(session_.is_proved(kStart + 62s));
}

TEST_F(SessionTest, ListenersAreNotifiedOnceAndTheLeaseIsOverByThen) {
  int calls = 0;
  EXPECT_NE(session_.on_over([&] {
    ++calls;
    EXPECT_TRUE(session_.is_over());
    EXPECT_FALSE(session_.lease().is_valid(kStart));
  }),
            0u);
  session_.announce_over(kStart + 1s);
  session_.announce_over(kStart + 2s);
  EXPECT_EQ(calls, 1);
}

TEST_F(SessionTest, ListenerThatComesTooLateIsNotifiedAtOnce) {
  session_.announce_over(kStart);
  int calls = 0;
  EXPECT_EQ(session_.on_over([&] { ++calls; }), 0u);
  EXPECT_EQ(calls, 1);
}

TEST_F(SessionTest, ForgottenListenerIsNotNotified) {
  int calls = 0;
  const Session::ListenerId forgotten = session_.on_over([&] { ++calls; });
  session_.on_over([&] { calls += 10; });
  session_.forget(forgotten);
  session_.forget(forgotten);
  session_.announce_over(kStart);
  EXPECT_EQ(calls, 10);
}

TEST_F(SessionTest, ListenerMayForgetAnotherAndListenAgain) {
  int calls = 0;
  const Session::ListenerId other = session_.on_over([&] { ++calls; });
  session_.on_over([&] {
    session_.forget(other);
    session_.on_over([&] { calls += 100; });
  });
  session_.announce_over(kStart);
  EXPECT_EQ(calls, 101);
}

TEST_F(SessionTest, EveryListenerIsNotifiedExactlyOnceWhileThreadsComeAndGo) {
  for (int round = 0; round < 50; ++round) {
    Session session(1, 8s, kStart, 2s);
    std::atomic<int> told{0};
    std::vector<std::thread> threads;
    for (int n = 0; n < 3; ++n)
      threads.emplace_back([&] {
        for (int i = 0; i < 50; ++i) session.on_over([&] { ++told; });
      });
    session.announce_over(kStart);
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(told.load(), 150);
  }
}

}  // namespace
}  // namespace zkrecipes::detail
