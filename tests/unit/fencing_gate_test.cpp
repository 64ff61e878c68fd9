// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/fencing_gate.h"

#include <atomic>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace zkrecipes {
namespace {

TEST(FencingGateTest, AFreshGate_AdmitsAnyHolder) {
  FencingGate gate;
  EXPECT_EQ(gate.highest().zxid, 0);
  EXPECT_TRUE(gate.admit({1, 0}));
}

TEST(FencingGateTest, AnEmptyToken_IsNobodysAndIsRefused) {
  FencingGate gate;
  EXPECT_FALSE(gate.admit(FencingToken{}));
  EXPECT_FALSE(gate.admit({0, 7}));
  gate.reset(FencingToken{});
  EXPECT_FALSE(gate.admit(FencingToken{}));
  EXPECT_TRUE(gate.admit({1, 0}));
}

TEST(FencingGateTest, AnOlderToken_IsRefusedAndChangesNothing) {
  FencingGate gate;
  EXPECT_TRUE(gate.admit({10, 0}));
  EXPECT_FALSE(gate.admit({9, 0}));
  EXPECT_EQ(gate.highest().zxid, 10);
}

TEST(FencingGateTest, TheSameHolder_MayComeAgain) {
  FencingGate gate;
  EXPECT_TRUE(gate.admit({10, 0}));
  EXPECT_TRUE(gate.admit({10, 0}));
  EXPECT_TRUE(gate.admit({11, 0}));
}

TEST(FencingGateTest, Reset_LetsLowerTokensBeginAgain) {
  FencingGate gate;
  EXPECT_TRUE(gate.admit({10, 0}));
  gate.reset({5, 0});
  EXPECT_EQ(gate.highest().zxid, 5);
  EXPECT_FALSE(gate.admit({4, 0}));
  EXPECT_TRUE(gate.admit({6, 0}));
}

TEST(FencingGateTest, ManyThreads_NeverMoveItBack) {
  FencingGate gate;
  std::atomic<bool> backwards{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (std::int64_t zxid = t; zxid < 4000; zxid += 4) {
        const FencingToken before = gate.highest();
        gate.admit({zxid, 0});
        if (gate.highest() < before) backwards = true;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(backwards);
  EXPECT_EQ(gate.highest().zxid, 3999);
}

}  // namespace
}  // namespace zkrecipes
