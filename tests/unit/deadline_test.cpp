// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/deadline.h"

#include <gtest/gtest.h>
#include <limits>
#include <ratio>

namespace zkrecipes {
namespace {

using namespace std::chrono_literals;
using SystemClock = std::chrono::system_clock;

/// Not ahead of now; in a function, so that the deadline is made before the clock is read.
void expect_passed(Clock::time_point deadline) {
  EXPECT_LE(deadline, Clock::now());
}

template <class Duration>
void expect_about(Clock::time_point deadline, Duration ahead) {
  const auto off = deadline - (Clock::now() + std::chrono::duration_cast<Clock::duration>(ahead));
  EXPECT_LE(off, 1ms);
  EXPECT_GE(off, -10s);  // a machine may pause, but a wrong unit is off by more
}

TEST(DeadlineTest, ATimeout_CountsFromNow) {
  expect_about(deadline_after(100s), 100s);
  expect_about(deadline_after(100min), 100min);
  expect_about(deadline_after(std::chrono::duration<double>(100.0)), 100s);
  expect_about(deadline_after(std::chrono::duration<float, std::milli>(100'000.0F)), 100s);
}

TEST(DeadlineTest, AZeroTimeout_IsNow) {
  const auto before = Clock::now();
  EXPECT_GE(deadline_after(0s), before);
  expect_passed(deadline_after(0s));
}

TEST(DeadlineTest, AFractionOfATick_IsRoundedUp) {
  EXPECT_GT(deadline_after(std::chrono::duration<double, std::nano>(0.25)).time_since_epoch().count(), 0);
}

TEST(DeadlineTest, ANegativeTimeout_IsNow) {
  const auto before = Clock::now();
  for (const auto deadline :
       {deadline_after(-1ns), deadline_after(-1h), deadline_after(std::chrono::hours::min()),
        deadline_after(std::chrono::duration<double>(-0.5)), deadline_after(std::chrono::duration<double>(-1e300)),
        deadline_after(std::chrono::duration<double>(-std::numeric_limits<double>::infinity()))}) {
    EXPECT_GE(deadline, before);
    expect_passed(deadline);
  }
}

TEST(DeadlineTest, ATimeoutThatIsNoNumber_IsRefused) {
  EXPECT_THROW(deadline_after(std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN())),
               std::invalid_argument);
}

TEST(DeadlineTest, AHugeTimeout_IsForEver) {
  const auto for_ever = Clock::time_point::max();
  EXPECT_EQ(deadline_after(std::chrono::hours::max()), for_ever);
  EXPECT_EQ(deadline_after(std::chrono::nanoseconds::max()), for_ever);
  EXPECT_EQ(deadline_after(std::chrono::duration<double>(1e300)), for_ever);
  EXPECT_EQ(deadline_after(std::chrono::duration<double>(std::numeric_limits<double>::infinity())), for_ever);
  EXPECT_EQ(deadline_after(std::chrono::duration<std::int64_t, std::ratio<31'556'952>>::max()), for_ever);
  EXPECT_EQ(deadline_after(for_ever - Clock::now()), for_ever);
}

TEST(DeadlineTest, OurOwnClock_IsTakenAsItIs) {
  const auto time = Clock::time_point(12345ns);
  EXPECT_EQ(to_deadline(time), time);
  EXPECT_EQ(to_deadline(Clock::time_point::min()), Clock::time_point::min());
  EXPECT_EQ(to_deadline(Clock::time_point::max()), Clock::time_point::max());
}

TEST(DeadlineTest, AnotherClock_IsAsFarAhead) {
  expect_about(to_deadline(SystemClock::now() + 100s), 100s);
  expect_about(to_deadline(std::chrono::time_point_cast<std::chrono::seconds>(SystemClock::now() + 100s)), 100s);
}

TEST(DeadlineTest, ATimeInThePast_IsNow) {
  expect_passed(to_deadline(SystemClock::now() - 100s));
  expect_passed(to_deadline(SystemClock::time_point{}));
}

TEST(DeadlineTest, TheEndsOfAnotherClock_DoNotOverflow) {
  expect_passed(to_deadline(SystemClock::time_point::min()));
  using Hours = std::chrono::time_point<SystemClock, std::chrono::hours>;
  expect_passed(to_deadline(Hours::min()));
  EXPECT_EQ(to_deadline(Hours::max()), Clock::time_point::max());
  EXPECT_GE(to_deadline(SystemClock::time_point::max()), Clock::now() + std::chrono::hours(24 * 365 * 100));
}

}  // namespace
}  // namespace zkrecipes
