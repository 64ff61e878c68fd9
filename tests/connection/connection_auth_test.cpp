// SPDX-License-Identifier: Apache-2.0
// Credentials that the server refuses: for a passing reason, or for good.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zookeeper/zookeeper.h>

#include "tests/support/fixture.h"
#include "zkrecipes/zkrecipes.h"

namespace zkrecipes::testing {
namespace {

using namespace std::chrono_literals;
using detail::Status;
using State = ConnectionState;

class Authentication : public ControlledServerTest {
 protected:
  ConnectionOptions with_credentials(std::chrono::milliseconds session_timeout = 20s) {
    ConnectionOptions options = options_by_proxy(session_timeout);
    options.credentials = {{"digest", "user:password"}};
    return options;
  }
};

TEST_F(Authentication, ThatFailsOnceIsTriedAgain) {
  proxy().answer_with_error(RequestKind::auth, ZAUTHFAILED);
  Connection& connection = begin_connect(with_credentials());
  ASSERT_TRUE(proxy().wait_until_fired(kLimit));
  ASSERT_TRUE(proxy().wait_until([](const auto& counts) { return counts.connections >= 2; }, kLimit))
      << "not tried again";
  ASSERT_TRUE(connection.wait_until_connected(kLimit));
  EXPECT_EQ(SyncClient(connection).sync("/").status, Status::ok);
  EXPECT_EQ(connection.state(), State::connected);
}

TEST_F(Authentication, ThatFailsThreeTimesInARowIsFinal) {
  proxy().answer_with_error(RequestKind::auth, ZAUTHFAILED, 100);
  Connection& connection = begin_connect(with_credentials());
  EXPECT_TRUE(wait_for_state(connection, State::closed));
  EXPECT_THROW(connection.wait_until_connected(1s), NotAuthorized);
  EXPECT_EQ(proxy().counts().connections, 3);
  proxy().clear_faults();
}

TEST_F(Authentication, ThatFailsAtAReconnectDoesNotCostTheSession) {
  Connection& connection = connect(with_credentials());
  FairMutex lock(connection, "/lock");
  const Hold hold = lock.acquire();
  const auto session = connection.session_id();
  for (int n = 1; n <= 4; ++n) {
    const long sent = proxy().counts().of(RequestKind::auth);
    proxy().answer_with_error(RequestKind::auth, ZAUTHFAILED);
    lose_connection();
    ASSERT_TRUE(
        proxy().wait_until([&](const auto& counts) { return counts.of(RequestKind::auth) >= sent + 2; }, kLimit))
        << "not tried again";
    ASSERT_TRUE(connection.wait_until_connected(kLimit));
    EXPECT_EQ(SyncClient(connection).sync("/").status, Status::ok) << "which is the end of the row";
  }
  EXPECT_EQ(connection.session_id(), session);
  EXPECT_TRUE(hold.is_valid());
}

}  // namespace
}  // namespace zkrecipes::testing
