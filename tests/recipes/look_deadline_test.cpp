// SPDX-License-Identifier: Apache-2.0
// The blocking calls that are no acquires, with a deadline: during an outage, and without a connection at all.
#include "tests/recipes/recipe_test.h"

namespace zkrecipes::testing {
namespace {

using ::testing::HasSubstr;

/// What the Error(timed_out) says that `call` throws.
std::string time_out_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), make_error_code(ErrorCode::timed_out));
    return error.what();
  }
  ADD_FAILURE() << "no time-out";
  return {};
}

void expect_time_outs(Connection& connection, std::chrono::milliseconds patience, const std::string& wanted) {
  const auto soon = [&] { return Clock::now() + patience; };
  const auto before = Clock::now();
  EXPECT_THAT(time_out_of([&] { static_cast<void>(contenders(connection, "/lock", soon())); }), HasSubstr(wanted));
  EXPECT_THAT(time_out_of([&] { static_cast<void>(holder(connection, "/lock", soon())); }), HasSubstr(wanted));
  EXPECT_THAT(time_out_of([&] { request_revoke(connection, "/lock/node", soon()); }), HasSubstr("/lock/node"));
  EXPECT_GE(Clock::now() - before, 3 * patience);
}

TEST(LookDeadlineTest, WithoutAnyConnection_TheCallsEndInTime) {
  Connection connection("127.0.0.1:1");
  expect_time_outs(connection, 50ms, "a connection to the servers");
  const auto by_another_clock = std::chrono::system_clock::now() + 50ms;
  EXPECT_THAT(time_out_of([&] { static_cast<void>(contenders(connection, "/lock", by_another_clock)); }),
              HasSubstr("contenders of /lock"));
  EXPECT_THAT(time_out_of([&] { static_cast<void>(holder(connection, "/lock", by_another_clock)); }),
              HasSubstr("holder of /lock"));
  EXPECT_THAT(time_out_of([&] { request_revoke(connection, "/lock/node", by_another_clock); }),
              HasSubstr("revocation of /lock/node"));
}

TEST(LookDeadlineTest, BadInputAndAClosedConnection_ComeBeforeADeadlineThatHasPassed) {
  Connection connection("127.0.0.1:1");
  const auto passed = Clock::now() - 1s;
  for (const char* path : {"", "lock", "/lock/"}) {
    EXPECT_THROW(static_cast<void>(contenders(connection, path, passed)), std::invalid_argument);
    EXPECT_THROW(static_cast<void>(holder(connection, path, passed)), std::invalid_argument);
    EXPECT_THROW(request_revoke(connection, path, passed), std::invalid_argument);
  }
  connection.close();
  EXPECT_THROW(static_cast<void>(contenders(connection, "/lock", passed)), ConnectionClosed);
  EXPECT_THROW(static_cast<void>(holder(connection, "/lock", passed)), ConnectionClosed);
  EXPECT_THROW(request_revoke(connection, "/lock", passed), ConnectionClosed);
}

TEST(LookDeadlineTest, ACloseWhileTheyWait_EndsThemAsWithoutADeadline) {
  for (const auto deadline : {Clock::now() + kLimit, Clock::time_point::max()}) {
    Connection connection("127.0.0.1:1");
    Background looks([&] { EXPECT_THROW(static_cast<void>(holder(connection, "/lock", deadline)), ConnectionClosed); });
    Background asks([&] { EXPECT_THROW(request_revoke(connection, "/lock", deadline), ConnectionClosed); });
    connection.close();
  }
}

class LookOutageTest : public ControlledRecipeTest {};

TEST_F(LookOutageTest, WhileSuspended_TheCallsEndInTimeAndLeaveNothing) {
  Connection& broken = connect_by_proxy();
  FairMutex lock(broken, kPath);
  const Hold hold = lock.acquire();
  proxy().refuse(true);
  ASSERT_TRUE(wait_for_state(broken, ConnectionState::suspended));
  expect_time_outs(broken, 50ms, "a connection to the servers");
  EXPECT_EQ(load_of(broken).requests, 0U);
  proxy().refuse(false);
  const auto seen = holder(broken, kPath, Clock::now() + kLimit);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->node, hold.node());
}

TEST_F(LookOutageTest, AnswersThatComeTooLate_DoNoHarm) {
  Connection& slow = connect_by_proxy();
  FairMutex lock(slow, kPath);
  const Hold hold = lock.acquire();
  proxy().hold_reply(RequestKind::get_children);
  EXPECT_THAT(time_out_of([&] { static_cast<void>(contenders(slow, kPath, Clock::now() + 100ms)); }),
              HasSubstr("the list of /lock"));
  proxy().release_held();
  proxy().hold_reply(RequestKind::get_data);
  EXPECT_THAT(time_out_of([&] { static_cast<void>(holder(slow, kPath, Clock::now() + 500ms)); }),
              HasSubstr("the data of " + hold.node()));
  proxy().release_held();
  EXPECT_EQ(contenders(slow, kPath, Clock::now() + kLimit).size(), 1U);
}

TEST_F(LookOutageTest, ARequestThatWasGivenUp_IsNotWrittenLater) {
  Connection& slow = connect_by_proxy();
  FairMutex lock(connect(), kPath);
  const Hold hold = lock.acquire();
  proxy().hold_reply(RequestKind::get_data);
  EXPECT_THAT(time_out_of([&] { request_revoke(slow, hold.node(), Clock::now() + 100ms); }),
              HasSubstr("an answer to the request"));
  ASSERT_TRUE(proxy().wait_until_fired(kLimit));
  proxy().release_held();
  EXPECT_THAT(time_out_of([&] { request_revoke(slow, hold.node(), Clock::now() - 1s); }), HasSubstr("had passed"));
  // Answers are taken in order: behind this one, the answer that was held back has been taken in, too.
  static_cast<void>(contenders(slow, kPath));
  ASSERT_TRUE(wait_for([&] { return load_of(slow).requests == 0; }));
  EXPECT_EQ(plain().stat(full(hold.node()))->version, 0);
  request_revoke(slow, hold.node(), Clock::now() + kLimit);
  EXPECT_EQ(plain().stat(full(hold.node()))->version, 1);
}

}  // namespace
}  // namespace zkrecipes::testing
