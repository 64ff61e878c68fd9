// SPDX-License-Identifier: Apache-2.0
// A system that has no thread to give.
#include <atomic>
#include <gtest/gtest.h>
#include <string>
#include <system_error>

#include "tests/support/fake_threads.h"
#include "tests/support/fixture.h"
#include "zkrecipes/zkrecipes.h"

namespace zkrecipes::testing {
namespace {

class WithoutThreads : public ControlledServerTest {};

TEST_F(WithoutThreads, AConnectionIsNotMade) {
  const ConnectionOptions own = options();
  const NoThreads none;
  EXPECT_THROW(Connection{own}, std::system_error);
}

TEST_F(WithoutThreads, AConnectionCanBeClosed) {
  Connection& connection = connect();
  FairMutex lock(connection, "/lock");
  const Hold hold = lock.acquire();
  const NoThreads none;
  connection.close();
  EXPECT_EQ(connection.state(), ConnectionState::closed);
}

TEST_F(WithoutThreads, AHoldThatIsLost_IsReportedToThoseWhoHaveSubscribed) {
  Connection& connection = connect(options(std::chrono::seconds(4)));
  FairMutex lock(connection, "/lock");
  const Hold hold = lock.acquire();
  std::atomic<bool> lost{false};
  const Subscription subscription = hold.on_lost([&] { lost = true; });
  {
    const NoThreads none;
    EXPECT_THROW(static_cast<void>(connection.on_state_change([](ConnectionState) {})), std::system_error)
        << "whoever subscribes is told at once";
    remove_node(hold.node());
    EXPECT_TRUE(wait_for([&] { return lost.load(); }));
  }
}

TEST_F(WithoutThreads, ASessionThatHasEndedIsReplaced_WhenThereAreThreadsAgain) {
  std::atomic<bool> refused{false};
  ConnectionOptions own = options(std::chrono::seconds(4));
  own.log = [&](LogSeverity, const std::string& line) {
    if (line.find("could not make a handle") != std::string::npos) refused = true;
  };
  Connection& connection = connect(own);
  {
    const NoThreads none;
    expire_session(connection);
    EXPECT_TRUE(wait_for([&] { return refused.load(); }));
  }
  FairMutex lock(connection, "/lock");
  EXPECT_TRUE(lock.acquire().is_valid());
}

}  // namespace
}  // namespace zkrecipes::testing
