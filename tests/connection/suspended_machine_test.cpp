// SPDX-License-Identifier: Apache-2.0
// A machine that was suspended to RAM: its steady clock stood still, the server's clock did not.
#include <gtest/gtest.h>

#include "tests/connection/fake_clock.h"
#include "tests/support/fixture.h"
#include "zkrecipes/zkrecipes.h"

namespace zkrecipes::testing {
namespace {

using namespace std::chrono_literals;

class SuspendedMachine : public ControlledServerTest {};

TEST_F(SuspendedMachine, ForLongerThanTheLease_HoldsAreOverAtOnce) {
  Connection& connection = connect(options(10s));
  FairMutex lock(connection, "/lock");
  const Hold hold = lock.acquire();
  const FencingToken token = hold.token();
  const StateLog log(connection);
  Answer<> lost;
  const Subscription subscription = hold.on_lost(lost.handler());
  ASSERT_TRUE(hold.is_valid());
  const auto steady = Clock::now();
  suspend_machine(8s);
  EXPECT_FALSE(hold.is_valid()) << "before anything else has noticed";
  EXPECT_LE(hold.valid_until(), Clock::now());
  EXPECT_LT(Clock::now() - steady, 5s) << "the steady clock has not moved";
  EXPECT_TRUE(lost.wait());
  EXPECT_TRUE(log.wait_for(ConnectionState::lost));
  const Hold again = lock.acquire();
  EXPECT_TRUE(again.is_valid());
  EXPECT_GT(again.token(), token);
}

TEST_F(SuspendedMachine, ForAMoment_LosesNothing) {
  Connection& connection = connect(options(20s));
  FairMutex lock(connection, "/lock");
  const Hold hold = lock.acquire();
  const auto session = connection.session_id();
  const auto before = hold.valid_until();
  suspend_machine(3s);
  EXPECT_TRUE(hold.is_valid());
  EXPECT_LT(hold.valid_until(), before) << "on the steady clock the lease is shorter by what it did not count";
  EXPECT_TRUE(wait_for([&] { return hold.valid_until() > before; })) << "it is renewed";
  EXPECT_EQ(connection.session_id(), session);
}

}  // namespace
}  // namespace zkrecipes::testing
