// SPDX-License-Identifier: Apache-2.0
// A server drops the connection on a request above its jute.maxbuffer, and does not say why.
#include <algorithm>
#include <iostream>

#include "tests/recipes/lock_types.h"
#include "tests/recipes/recipe_test.h"

namespace zkrecipes::testing {
namespace {

using ::testing::HasSubstr;

template <class Lock>
class OversizedRequestTest : public ControlledRecipeTest {
 protected:
  void SetUp() override {
    ControlledRecipeTest::SetUp();
    if (IsSkipped()) return;
    ServerOptions server;
    server.jute_max_buffer = 20'000;
    use_own_server(server);
  }
  static auto suspensions(const StateLog& log) {
    const auto states = log.states();
    return std::count(states.begin(), states.end(), ConnectionState::suspended);
  }
  static void expect_too_large(PendingHold& pending) {
    const auto begin = Clock::now();
    ASSERT_TRUE(wait_until_ready(pending, 15s)) << "sent again and again";
    std::cout << "failed after " << std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin).count()
              << " ms\n";
    try {
      static_cast<void>(pending.get());
      FAIL() << "granted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::too_large) << error.what();
      EXPECT_THAT(error.what(), HasSubstr("jute.maxbuffer"));
    }
  }
};

TYPED_TEST_SUITE(OversizedRequestTest, LockTypes, LockTypeNames);

TYPED_TEST(OversizedRequestTest, OnALongPath_FailsAndLeavesTheOtherHoldsAlone) {
  Connection& connection = this->connect(this->options(10s));
  TypeParam innocent(connection, this->kPath);
  const Hold hold = innocent.acquire();
  CallCount lost;
  const Subscription subscription = hold.on_lost(lost.handler());
  const auto session = connection.session_id();
  const StateLog log(connection);
  TypeParam too_long(connection, "/" + std::string(25'000, 'x'));
  PendingHold pending = too_long.acquire_async();
  this->expect_too_large(pending);
  PendingHold again = too_long.acquire_async();
  this->expect_too_large(again);
  ASSERT_TRUE(connection.wait_until_connected(kLimit));
  std::cout << this->suspensions(log) << " suspensions\n";
  EXPECT_LE(this->suspensions(log), 6);
  EXPECT_EQ(connection.session_id(), session);
  EXPECT_TRUE(hold.is_valid());
  EXPECT_EQ(lost.count(), 0);
  TypeParam other(connection, "/other");
  EXPECT_TRUE(other.acquire().is_valid()) << "requests of the usual size still pass";
}

TYPED_TEST(OversizedRequestTest, WithALongIdentity_FailsAndTheConnectionStays) {
  ConnectionOptions options = this->options(10s);
  options.identity.assign(50'000, 'i');
  Connection& connection = this->connect(std::move(options));
  const auto session = connection.session_id();
  const StateLog log(connection);
  TypeParam lock(connection, this->kPath);
  PendingHold pending = lock.acquire_async();
  this->expect_too_large(pending);
  ASSERT_TRUE(connection.wait_until_connected(kLimit));
  EXPECT_LE(this->suspensions(log), 6);
  EXPECT_EQ(connection.session_id(), session);
}

}  // namespace
}  // namespace zkrecipes::testing
