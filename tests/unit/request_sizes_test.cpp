// SPDX-License-Identifier: Apache-2.0
#include "connection/request_sizes.h"

#include <gtest/gtest.h>

namespace zkrecipes::detail {
namespace {

constexpr std::size_t kLarge = 100'000;

void lose(RequestSizes& sizes, std::size_t size, int times) {
  for (int n = 0; n < times; ++n) {
    sizes.lost(size);
    sizes.disconnected();
  }
}

TEST(RequestSizesTest, ARequestThatWasUnderWayAtFiveDisconnectsInARow_IsRefused) {
  RequestSizes sizes;
  lose(sizes, kLarge, 4);
  EXPECT_TRUE(sizes.accepts(kLarge));
  lose(sizes, kLarge, 1);
  EXPECT_FALSE(sizes.accepts(kLarge));
  EXPECT_TRUE(sizes.accepts(kLarge - 1));
}

TEST(RequestSizesTest, ASizeThatWasAnsweredOnce_IsNeverSuspected) {
  RequestSizes sizes;
  sizes.answered(kLarge);
  lose(sizes, kLarge, 20);
  EXPECT_TRUE(sizes.accepts(kLarge));
}

TEST(RequestSizesTest, ADisconnectWithoutALargeRequest_BeginsTheCountAgain) {
  RequestSizes sizes;
  lose(sizes, kLarge, 4);
  lose(sizes, 100, 1);
  lose(sizes, kLarge, 4);
  EXPECT_TRUE(sizes.accepts(kLarge));
}

TEST(RequestSizesTest, ASmallRequest_IsNeverSuspected) {
  RequestSizes sizes;
  lose(sizes, 4'096, 20);
  EXPECT_TRUE(sizes.accepts(4'096));
}

TEST(RequestSizesTest, AServerThatWasLeft_SaysNothingAboutSizes) {
  RequestSizes sizes;
  for (int n = 0; n < 20; ++n) {
    sizes.lost(kLarge);
    sizes.left();
    sizes.disconnected();
  }
  EXPECT_TRUE(sizes.accepts(kLarge));
}

TEST(RequestSizesTest, ANewSession_AcceptsAllAgain) {
  RequestSizes sizes;
  lose(sizes, kLarge, 5);
  sizes.forget();
  EXPECT_TRUE(sizes.accepts(kLarge));
}

TEST(RequestSizesTest, WhatNoServerAcceptsByDefault_IsRefusedAtOnce) {
  EXPECT_FALSE(RequestSizes().accepts(2'000'000));
}

}  // namespace
}  // namespace zkrecipes::detail
