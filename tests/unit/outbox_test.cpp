// SPDX-License-Identifier: Apache-2.0
#include "connection/outbox.h"

#include <gtest/gtest.h>
#include <stdexcept>

namespace zkrecipes::detail {
namespace {

TEST(Outbox, WhatThrows_DoesNotKeepTheRestFromRunning) {
  int ran = 0;
  Outbox outbox;
  outbox.add([] { throw std::runtime_error("on purpose, by a test"); });
  outbox.complete([&](const Reply&) { ++ran; }, Status::ok);
  outbox.add([&] { ++ran; });
  outbox.run();
  EXPECT_EQ(ran, 2);
}

}  // namespace
}  // namespace zkrecipes::detail
