// SPDX-License-Identifier: Apache-2.0
// Servers of one ensemble may allow session timeouts of different length. The lease follows the shortest that was
// granted.
#include "tests/recipes/recipe_test.h"

namespace zkrecipes::testing {
namespace {

class RenegotiatedTimeout : public EnsembleTest {
 protected:
  static constexpr int kGenerous = 0, kStrict = 1, kOther = 2;

  void SetUp() override {
    if (external_servers()) GTEST_SKIP() << "needs servers that it can control";
    EnsembleTest::SetUp();
    ServerOptions options;
    options.max_session_timeouts = {10s, 4s, 10s};
    use_ensemble(options);
  }
  /// A connection by way of both members that is at the first one now.
  Connection& connect_at(int first, int second) {
    proxy(second).refuse(true);
    return connect(options_by_proxy({first, second}, 10s));
  }
  void move(Connection& connection, int from, int to) {
    const StateLog log(connection);
    proxy(to).refuse(false);
    proxy(from).refuse(true);
    ASSERT_TRUE(log.wait_for({ConnectionState::suspended, ConnectionState::connected}));
  }
};

TEST_F(RenegotiatedTimeout, AShorterOne_ShortensTheLeaseAndTheHoldEndsBeforeAnotherIsGranted) {
  Connection& connection = connect_at(kGenerous, kStrict);
  ASSERT_EQ(connection.session_timeout(), 10s);
  FairMutex lock(connection, "/lock");
  const Hold hold = lock.acquire();
  const auto session = connection.session_id();
  EXPECT_GT(hold.valid_until(), Clock::now() + 4s);
  move(connection, kGenerous, kStrict);
  EXPECT_EQ(connection.session_id(), session);
  EXPECT_EQ(connection.session_timeout(), 4s);
  EXPECT_LE(hold.valid_until(), Clock::now() + 3s);
  EXPECT_TRUE(hold.is_valid());

  FairMutex rival(connect(options_for(ensemble().address(kOther), 10s)), "/lock");
  PendingHold pending = rival.acquire_async();
  std::atomic<bool> granted{false}, overlap{false};
  pending.on_ready([&](const AcquireResult&) {
    overlap = hold.is_valid();
    granted = true;
  });
  proxy(kStrict).black_hole();
  EXPECT_TRUE(wait_for([&] { return granted.load(); }));
  EXPECT_FALSE(overlap) << "two valid holds";
  EXPECT_LT(hold.valid_until(), Clock::now());
}

TEST_F(RenegotiatedTimeout, ALongerOne_DoesNotLengthenTheLease) {
  Connection& connection = connect_at(kStrict, kGenerous);
  ASSERT_EQ(connection.session_timeout(), 4s);
  FairMutex lock(connection, "/lock");
  const Hold hold = lock.acquire();
  const auto session = connection.session_id();
  move(connection, kStrict, kGenerous);
  EXPECT_EQ(connection.session_id(), session);
  const auto begin = hold.valid_until();
  ASSERT_TRUE(wait_for([&] { return hold.valid_until() > begin; })) << "it is renewed at the other server";
  EXPECT_LE(hold.valid_until(), Clock::now() + 3s) << "a new leader goes by the first timeout";
  EXPECT_TRUE(wait_for([&] { return !hold.is_valid() || Clock::now() > begin + 4s; }));
  EXPECT_TRUE(hold.is_valid()) << "heartbeats keep up with the shorter lease";
}

}  // namespace
}  // namespace zkrecipes::testing
