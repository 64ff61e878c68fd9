// SPDX-License-Identifier: Apache-2.0
#include "connection/in_flight.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <string>

namespace zkrecipes::detail {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(InFlightTest, WhatWasAdded_IsTakenOnce) {
  InFlight<std::string> requests;
  requests.add(7, "seven");
  EXPECT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests.take(7), "seven");
  EXPECT_EQ(requests.take(7), std::nullopt);
  EXPECT_TRUE(requests.empty());
}

TEST(InFlightTest, AnUnknownNumber_FindsNothing) {
  InFlight<std::string> requests;
  EXPECT_EQ(requests.take(1), std::nullopt);
  requests.add(5, "five");
  requests.add(9, "nine");
  for (const std::uint64_t number : {4u, 6u, 10u}) EXPECT_EQ(requests.take(number), std::nullopt) << number;
  EXPECT_EQ(requests.size(), 2u);
}

TEST(InFlightTest, OutOfOrder_FindsTheRightOne) {
  InFlight<std::string> requests;
  for (const std::uint64_t number : {1u, 2u, 4u, 8u}) requests.add(number, std::to_string(number));
  EXPECT_EQ(requests.take(4), "4");
  EXPECT_EQ(requests.take(4), std::nullopt);
  EXPECT_EQ(requests.take(1), "1");
  EXPECT_EQ(requests.take(8), "8");
  requests.add(9, "9");
  EXPECT_EQ(requests.take(2), "2");
  EXPECT_EQ(requests.take(9), "9");
  EXPECT_TRUE(requests.empty());
}

TEST(InFlightTest, TakeIf_TakesThoseOldestFirst) {
  InFlight<int> requests;
  for (int i = 1; i <= 6; ++i) requests.add(static_cast<std::uint64_t>(i), i);
  EXPECT_EQ(requests.count_if([](int i) { return i > 2; }), 4u);
  EXPECT_THAT(requests.take_if([](int i) { return i % 2 == 0; }), ElementsAre(2, 4, 6));
  EXPECT_THAT(requests.take_if([](int i) { return i % 2 == 0; }), IsEmpty());
  EXPECT_EQ(requests.take(2), std::nullopt);
  EXPECT_EQ(requests.size(), 3u);
  EXPECT_THAT(requests.take_if([](int) { return true; }), ElementsAre(1, 3, 5));
  EXPECT_TRUE(requests.empty());
}

TEST(InFlightTest, AnyOrder_IsWhatAMapWouldSay) {
  std::mt19937 random(20);
  InFlight<int> requests;
  std::map<std::uint64_t, int> map;
  std::uint64_t next = 1;
  for (int step = 0; step < 20'000; ++step) {
    if (random() % 2 == 0 || map.empty()) {
      next += 1 + random() % 3;
      requests.add(next, step);
      map.emplace(next, step);
      continue;
    }
    // Mostly the oldest, as servers answer.
    auto chosen = map.begin();
    if (random() % 4 == 0) std::advance(chosen, random() % map.size());
    ASSERT_EQ(requests.take(chosen->first), chosen->second);
    map.erase(chosen);
    ASSERT_EQ(requests.size(), map.size());
  }
}

}  // namespace
}  // namespace zkrecipes::detail
