// SPDX-License-Identifier: Apache-2.0
// The servers of one holder lose touch with the others, while its own link to them stays. Another client waits on the
// side of the majority. At no time may both have a valid hold.
#include <algorithm>
#include <atomic>
#include <gtest/gtest.h>
#include <iostream>
#include <memory>
#include <vector>

#include "tests/ensemble/ensemble_fixture.h"

namespace zkrecipes::testing {
namespace {

using namespace std::chrono_literals;

constexpr int kPairs = 10;

class TwoHolders : public FaultyEnsembleTest {
 protected:
  struct Pair {
    std::unique_ptr<FairMutex> holders_lock;
    std::unique_ptr<FairMutex> waiters_lock;
    Hold hold;
    Hold next;  // set before `granted`
    PendingHold waiting;
    std::atomic<Clock::time_point> granted{Clock::time_point::min()};
    std::atomic<bool> both_valid{false};
    bool next_is_valid = false;
  };

  /// The holders are connected to `member` only, the waiters to the others only.
  void hold_at(int member, Milliseconds timeout, LeaseProof proof = LeaseProof::quorum) {
    for (int n = 0; n < kPairs; ++n) {
      Pair& pair = *pairs_.emplace_back(std::make_unique<Pair>());
      const std::string path = "/lock" + std::to_string(n);
      ConnectionOptions holder = options_for(ensemble().address(member), timeout);
      holder.lease_proof = proof;
      pair.holders_lock = std::make_unique<FairMutex>(connect(holder), path);
      pair.hold = pair.holders_lock->acquire();
      Connection& waiter = connect(options_for(others(member), timeout));
      pair.waiters_lock = std::make_unique<FairMutex>(waiter, path);
      pair.waiting = pair.waiters_lock->acquire_async();
      pair.waiting.on_ready([&pair](AcquireResult result) {
        pair.both_valid = pair.hold.is_valid();
        pair.next = std::move(result).value();
        pair.granted = Clock::now();
      });
      ASSERT_TRUE(wait_for([&] { return contenders(waiter, path).size() == 2; }));
    }
  }

  /// How long before the next grant the holders' leases ended, at least. Negative: both were valid for that long.
  Clock::duration least_margin(const std::string& what, Milliseconds timeout) {
    auto least = Clock::duration::max();
    int both_valid = 0;
    for (const auto& pair : pairs_) {
      EXPECT_TRUE(wait_for([&] { return pair->granted.load() != Clock::time_point::min(); }, 90s));
      both_valid += pair->both_valid ? 1 : 0;
      least = std::min(least, pair->granted.load() - pair->hold.valid_until());
      EXPECT_FALSE(pair->hold.is_valid());
      const Hold& next = pair->next;
      EXPECT_GT(next.token(), pair->hold.token());
      EXPECT_TRUE(next.is_valid());
    }
    std::cout << what << ", session timeout " << to_seconds(timeout) << " s: " << both_valid << " of " << pairs_.size()
              << " pairs both valid; the next holder came at least " << to_seconds(least)
              << " s after the end of the lease\n";
    EXPECT_EQ(both_valid, 0);
    return least;
  }

  void TearDown() override {
    pairs_.clear();
    FaultyEnsembleTest::TearDown();
  }

  std::vector<std::unique_ptr<Pair>> pairs_;
};

class TwoHoldersByTimeout : public TwoHolders, public ::testing::WithParamInterface<int> {};

TEST_P(TwoHoldersByTimeout, FollowerCutOffFromTheLeader_EndsTheHoldBeforeTheNextGrant) {
  const Milliseconds timeout = ticks(GetParam());
  start(GetParam() + 10);  // it serves reads until long after the session has expired
  const int follower = any_follower();
  hold_at(follower, timeout);
  ensemble().isolate_silently(follower);
  EXPECT_GT(least_margin("follower cut off", timeout), 0s);
}

INSTANTIATE_TEST_SUITE_P(Ticks, TwoHoldersByTimeout, ::testing::Values(2, 5, 20));

TEST_F(TwoHolders, LeaderCutOffFromItsQuorum_EndsTheHoldBeforeTheNextGrant) {
  start(20);  // it answers until long after the others have elected another leader
  const int leader = ensemble().leader();
  hold_at(leader, ticks(5));
  ensemble().isolate_unnoticed(leader);
  EXPECT_GT(least_margin("leader cut off", ticks(5)), 0s);
}

TEST_F(TwoHolders, LeaderThatWakesUpAfterItWasReplaced_DoesNotBringTheHoldBack) {
  start(5, true);
  const int leader = ensemble().leader();
  hold_at(leader, ticks(5));
  ensemble().pause_member(leader);
  EXPECT_GT(least_margin("leader paused", ticks(5)), 0s);
  ensemble().resume_member(leader);
  for (const auto& pair : pairs_) EXPECT_FALSE(pair->hold.is_valid());
  ensemble().heal();
}

TEST_F(TwoHolders, FollowerCutOff_EndsTheHoldAlsoWhenOnlyTheLeaderProvesIt) {
  start(15);
  const int follower = any_follower();
  hold_at(follower, ticks(5), LeaseProof::leader);
  ensemble().isolate_silently(follower);
  EXPECT_GT(least_margin("follower cut off, proof by the leader", ticks(5)), 0s);
}

}  // namespace
}  // namespace zkrecipes::testing
