// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "bench/comparison/result.h"
#include "bench/comparison/table.h"

namespace {

using namespace std::chrono_literals;
using namespace comparison;

TEST(ComparisonResult, OnlyAClientThatPollsSendsMoreWhileItWaits) {
  Waiting waiting;
  EXPECT_EQ(describe_waking(waiting), "unknown");
  waiting.requests_per_second = 20;
  EXPECT_EQ(describe_waking(waiting), "polling");
  waiting.requests_per_second_holding = 20;
  EXPECT_EQ(describe_waking(waiting), "event");
}

TEST(ComparisonResult, DelayIsTheMedianWithItsRange) {
  Waiting waiting;
  EXPECT_EQ(describe_delay(waiting), "unknown");
  waiting.wake_ups = {3ms, 1ms, 40ms};
  EXPECT_EQ(describe_delay(waiting), "3.0 ms (1.0 to 40.0)");
}

TEST(ComparisonResult, OneRoundOutOfOrderIsShown) {
  Waiting waiting;
  waiting.rounds = {{0, 1, 2}, {0, 1, 2}};
  EXPECT_EQ(describe_order(waiting), "2 of 2");
  waiting.rounds.push_back({1, 0, 2});
  EXPECT_EQ(describe_order(waiting), "2 of 3 (once 2 1 3)");
}

TEST(ComparisonResult, TokensMustGrowStrictly) {
  Waiting result;
  EXPECT_EQ(describe_token(result), "none");
  result.tokens = {1, 5, 6};
  EXPECT_EQ(describe_token(result), "grows, 3 grants");
  result.tokens.push_back(6);
  EXPECT_EQ(describe_token(result), "DOES NOT GROW, 4 grants");
}

TEST(ComparisonResult, ServersFailInFourWays) {
  Failure failure;
  EXPECT_EQ(describe(failure), "not tried");
  failure.tried = true;
  failure.what = "restarted";
  EXPECT_EQ(describe(failure), "restarted: lost, holder told; nobody has it");
  failure.first_believes = true;
  EXPECT_EQ(describe(failure), "restarted: holder keeps it");
  failure.next_after = 1500ms;
  EXPECT_EQ(describe(failure), "restarted: two holders after 1.5 s");
  failure.first_believes = false;
  EXPECT_EQ(describe(failure), "restarted: lost, holder told; next after 1.5 s");
}

TEST(ComparisonTable, ColumnsAreAsWideAsTheirWidestCell) {
  const Table table{"Title", {"a", "bb"}, {{"long", "x"}, {"s", "y"}}};
  EXPECT_EQ(as_text(table), "Title\n\na     bb\nlong  x\ns     y\n");
  EXPECT_EQ(as_markdown(table), "### Title\n\n| a | bb |\n| --- | --- |\n| long | x |\n| s | y |\n");
}

}  // namespace
