// SPDX-License-Identifier: Apache-2.0
#include "connection/backoff.h"

#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <stdexcept>
#include <string>

namespace zkrecipes::detail {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

RetryPolicy policy() {
  RetryPolicy result;
  result.initial_delay = 100ms;
  result.max_delay = 1000ms;
  result.multiplier = 3.0;
  result.jitter = 0.5;
  return result;
}

TEST(Backoff, GrowsByTheMultiplierUpToTheLimit) {
  Backoff backoff(policy());
  EXPECT_EQ(backoff.next(0.0), 100ms);
  EXPECT_EQ(backoff.next(0.0), 300ms);
  EXPECT_EQ(backoff.next(0.0), 900ms);
  for (int n = 0; n < 1000; ++n) EXPECT_EQ(backoff.next(0.0), 1000ms);
}

TEST(Backoff, JitterShortensByItsShareAtMost) {
  Backoff backoff(policy());
  EXPECT_EQ(backoff.next(1.0), 50ms);
  EXPECT_EQ(backoff.next(0.5), 225ms);
}

TEST(Backoff, ResetBeginsAgain) {
  Backoff backoff(policy());
  backoff.next(0.0);
  backoff.next(0.0);
  backoff.reset();
  EXPECT_EQ(backoff.next(0.0), 100ms);
}

TEST(Backoff, IsNeverZero) {
  RetryPolicy tiny = policy();
  tiny.initial_delay = 1ms;
  tiny.jitter = 1.0;
  Backoff backoff(tiny);
  for (int n = 0; n < 10; ++n) EXPECT_GE(backoff.next(0.999), 1ms);
}

TEST(Backoff, DelaysStayBetweenTheJitterAndTheFullDelayWhateverTheRandomNumber) {
  RetryPolicy steady = policy();
  steady.multiplier = 1.0;
  Backoff backoff(steady);
  for (int n = 0; n < 100; ++n) {
    const auto delay = backoff.next(n / 100.0);
    EXPECT_GE(delay, 50ms);
    EXPECT_LE(delay, 100ms);
  }
}

std::string complaint_about(const std::function<void(RetryPolicy&)>& spoil) {
  RetryPolicy spoiled = policy();
  spoil(spoiled);
  try {
    check(spoiled);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no complaint";
}

TEST(RetryPolicy, DefaultsAndExtremesAreAccepted) {
  EXPECT_NO_THROW(check(RetryPolicy{}));
  RetryPolicy extreme;
  extreme.initial_delay = extreme.max_delay = 1ms;
  extreme.multiplier = 1.0;
  extreme.jitter = 1.0;
  extreme.give_up_after = 1ms;
  EXPECT_NO_THROW(check(extreme));
}

TEST(RetryPolicy, EachBadFieldIsNamed) {
  EXPECT_THAT(complaint_about([](RetryPolicy& p) { p.initial_delay = 0ms; }), HasSubstr("initial_delay"));
  EXPECT_THAT(complaint_about([](RetryPolicy& p) { p.initial_delay = -1ms; }), HasSubstr("initial_delay"));
  EXPECT_THAT(complaint_about([](RetryPolicy& p) { p.max_delay = 99ms; }), HasSubstr("max_delay"));
  EXPECT_THAT(complaint_about([](RetryPolicy& p) { p.multiplier = 0.9; }), HasSubstr("multiplier"));
  EXPECT_THAT(complaint_about([](RetryPolicy& p) { p.multiplier = std::numeric_limits<double>::quiet_NaN(); }),
              HasSubstr("multiplier"));
  EXPECT_THAT(complaint_about([](RetryPolicy& p) { p.jitter = -0.1; }), HasSubstr("jitter"));
  EXPECT_THAT(complaint_about([](RetryPolicy& p) { p.jitter = 1.1; }), HasSubstr("jitter"));
  EXPECT_THAT(complaint_about([](RetryPolicy& p) { p.give_up_after = -1ms; }), HasSubstr("give_up_after"));
}

}  // namespace
}  // namespace zkrecipes::detail
