// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "examples/comparison/result.h"
#include "examples/comparison/table.h"

namespace {

using namespace std::chrono_literals;
using namespace comparison;

Waiting waiting(std::vector<Milliseconds> wake_ups, std::optional<double> requests_per_second) {
  Waiting result;
  result.wake_ups = std::move(wake_ups);
  result.requests_per_second = requests_per_second;
  return result;
}

TEST(ComparisonResult, WhoIsGrantedTheLockSoonerThanItAsksWasTold) {
  EXPECT_EQ(describe_waking(waiting({2ms, 1ms, 40ms}, 5.0)), "event");
  EXPECT_EQ(describe_waking(waiting({2ms}, 0.0)), "event");
  EXPECT_EQ(describe_waking(waiting({25ms, 5ms, 50ms}, 20.0)), "polling");
  EXPECT_EQ(describe_waking(waiting({25ms}, std::nullopt)), "unknown");
}

TEST(ComparisonResult, DelayIsTheMedianWithItsRange) {
  EXPECT_EQ(describe_delay(waiting({3ms, 1ms, 40ms}, {})), "3.0 ms (1.0 to 40.0)");
}

TEST(ComparisonResult, OneRoundOutOfOrderIsShown) {
  Waiting result;
  result.rounds = {{0, 1, 2}, {0, 1, 2}};
  EXPECT_EQ(describe_order(result), "kept, 2 rounds");
  result.rounds.push_back({1, 0, 2});
  EXPECT_EQ(describe_order(result), "not kept: 2 1 3");
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
