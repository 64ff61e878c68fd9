// SPDX-License-Identifier: Apache-2.0
// One server is lost in one way or another, and the holders that were connected to it know others: their holds survive.
#include <atomic>
#include <gtest/gtest.h>
#include <iostream>
#include <memory>
#include <vector>

#include "tests/ensemble/ensemble_fixture.h"

namespace zkrecipes::testing {
namespace {

using namespace std::chrono_literals;

constexpr int kHolders = 20;

enum class Loss { killed, silent, paused, cut_off, slow_to_notice };

struct Case {
  Loss loss;
  int addresses;
  const char* name;
};

std::string name_of(const ::testing::TestParamInfo<Case>& test) {
  return std::string(test.param.name) + "_" + std::to_string(test.param.addresses) + "_addresses";
}

class Failover : public FaultyEnsembleTest, public ::testing::WithParamInterface<Case> {
 protected:
  struct Holder {
    std::unique_ptr<FairMutex> lock;
    Hold hold;
    Subscription lost;
  };

  /// Holders that are connected to `victim` and know this many members.
  void hold_at(int victim, Milliseconds timeout) {
    std::vector<int> known;
    for (int n = 0; n < GetParam().addresses; ++n) known.push_back((victim + n) % ensemble().size());
    for (const int member : known) proxy(member).refuse(member != victim);
    for (int n = 0; n < kHolders; ++n) {
      Holder& holder = *holders_.emplace_back(std::make_unique<Holder>());
      holder.lock = std::make_unique<FairMutex>(connect(options_by_proxy(known, timeout)), "/lock" + std::to_string(n));
      holder.hold = holder.lock->acquire();
      holder.lost = holder.hold.on_lost([this] { ++losses_; });
    }
    for (const int member : known) proxy(member).refuse(false);
  }

  void lose(int victim) {
    switch (GetParam().loss) {
      case Loss::killed:
        return ensemble().kill(victim);
      case Loss::silent:
        return proxy(victim).black_hole();
      case Loss::paused:
        return ensemble().pause_member(victim);
      case Loss::cut_off:
        return ensemble().isolate(victim);
      case Loss::slow_to_notice:
        return ensemble().isolate_silently(victim);
    }
  }

  void expect_survivors(const std::string& who, Milliseconds timeout) {
    // Long enough for every lease to be over that was not renewed.
    const auto end = Clock::now() + timeout;
    EXPECT_TRUE(wait_for([&] { return Clock::now() > end || losses_ > 0; }));
    int survivors = 0;
    auto least = Clock::duration::max();
    for (const auto& holder : holders_) {
      survivors += holder->hold.is_valid() ? 1 : 0;
      least = std::min(least, holder->hold.valid_until() - Clock::now());
    }
    std::cout << who << " " << GetParam().name << ", " << GetParam().addresses << " addresses, session timeout "
              << to_seconds(timeout) << " s: " << survivors << " of " << kHolders << " holds survived\n";
    EXPECT_EQ(survivors, kHolders);
    EXPECT_GT(least, timeout / 4) << "their leases are being renewed";
  }

  void TearDown() override {
    holders_.clear();
    FaultyEnsembleTest::TearDown();
  }

  std::atomic<int> losses_{0};
  std::vector<std::unique_ptr<Holder>> holders_;
};

TEST_P(Failover, HoldsSurviveTheLossOfAFollower) {
  start(20, GetParam().loss == Loss::paused);
  for (const int length : lengths()) {
    const int victim = any_follower();
    hold_at(victim, ticks(length));
    lose(victim);
    expect_survivors("follower", ticks(length));
    holders_.clear();
    if (GetParam().loss == Loss::killed) ensemble().restart(victim);
    if (GetParam().loss == Loss::paused) ensemble().resume_member(victim);
    heal();
  }
}

INSTANTIATE_TEST_SUITE_P(Losses, Failover,
                         ::testing::Values(Case{Loss::killed, 2, "killed"}, Case{Loss::killed, 3, "killed"},
                                           Case{Loss::silent, 2, "silent"}, Case{Loss::silent, 3, "silent"},
                                           Case{Loss::paused, 2, "paused"}, Case{Loss::cut_off, 2, "cut_off"},
                                           Case{Loss::cut_off, 3, "cut_off"},
                                           Case{Loss::slow_to_notice, 2, "cut_off_silently"},
                                           Case{Loss::slow_to_notice, 3, "cut_off_silently"}),
                         name_of);

class LeaderFailover : public Failover {};

/// The others must elect a new leader, which takes them a moment.
TEST_P(LeaderFailover, HoldsSurviveTheLossOfTheLeaderWhenTheOthersNoticeIt) {
  start(5);
  const int victim = ensemble().leader();
  hold_at(victim, ticks(12));
  lose(victim);
  expect_survivors("leader", ticks(12));
  holders_.clear();
  if (GetParam().loss == Loss::killed) ensemble().restart(victim);
  heal();
}

INSTANTIATE_TEST_SUITE_P(Losses, LeaderFailover,
                         ::testing::Values(Case{Loss::killed, 2, "killed"}, Case{Loss::cut_off, 3, "cut_off"}),
                         name_of);

}  // namespace
}  // namespace zkrecipes::testing
