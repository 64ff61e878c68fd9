// SPDX-License-Identifier: Apache-2.0
// States are reported in order, once each.
#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdexcept>

#include "tests/support/fixture.h"

namespace zkrecipes::testing {
namespace {

using namespace std::chrono_literals;
using State = ConnectionState;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ConnectionStates : public ControlledServerTest {};

TEST_F(ConnectionStates, BeginConnectingAndBecomeConnectedWithASession) {
  proxy().refuse(true);
  Connection& connection = begin_connect(options_by_proxy());
  StateLog log(connection);
  EXPECT_EQ(connection.state(), State::connecting);
  EXPECT_EQ(connection.session_id(), 0);
  EXPECT_EQ(connection.session_timeout(), 20s) << "as asked for until there is a session";
  EXPECT_FALSE(connection.wait_until_connected(10ms));
  EXPECT_FALSE(connection.wait_until_connected(0ms));
  proxy().refuse(false);
  EXPECT_TRUE(connection.wait_until_connected(kLimit));
  EXPECT_TRUE(log.wait_for(State::connected));
  EXPECT_NE(connection.session_id(), 0);
}

TEST_F(ConnectionStates, NegotiatedTimeoutIsTheServers) {
  ServerOptions limits;
  limits.min_session_timeout = 3s;
  limits.max_session_timeout = 9s;
  use_own_server(limits);
  EXPECT_EQ(connect(options(100ms)).session_timeout(), 3s);
  EXPECT_EQ(connect(options(5s)).session_timeout(), 5s);
  EXPECT_EQ(connect(options(10min)).session_timeout(), 9s);
}

TEST_F(ConnectionStates, ShortOutageIsSuspendedThenConnected) {
  Connection& connection = connect_by_proxy();
  StateLog log(connection);
  const auto session = connection.session_id();
  for (int outage = 1; outage <= 3; ++outage) {
    lose_connection();
    ASSERT_TRUE(wait_for([&] { return log.states().size() == static_cast<std::size_t>(2 * outage); }));
  }
  EXPECT_THAT(log.states(), ElementsAre(State::suspended, State::connected, State::suspended, State::connected,
                                        State::suspended, State::connected));
  EXPECT_EQ(connection.session_id(), session);
}

TEST_F(ConnectionStates, LongOutageIsSuspendedLostConnectedInANewSession) {
  Connection& connection = connect_by_proxy(2s);
  StateLog log(connection);
  const auto session = connection.session_id();
  proxy().refuse(true);
  ASSERT_TRUE(log.wait_for({State::suspended, State::lost}));
  EXPECT_EQ(connection.session_id(), 0);
  proxy().refuse(false);
  EXPECT_TRUE(log.wait_for({State::suspended, State::lost, State::connected}));
  EXPECT_NE(connection.session_id(), session);
}

TEST_F(ConnectionStates, ExpiryByTheServerIsSuspendedLostConnected) {
  Connection& connection = connect();
  StateLog log(connection);
  const SyncClient client(connection);
  const auto old = client.session();
  Answer<> over;
  old->on_over(over.handler());
  expire_session(connection);
  EXPECT_TRUE(over.wait());
  EXPECT_FALSE(old->lease().is_valid(detail::LeaseClock::now()));
  EXPECT_TRUE(log.wait_for({State::suspended, State::lost, State::connected}));
  EXPECT_NE(client.session(), old);
  EXPECT_EQ(client.begin(detail::RequestKind::exists, "/", old).part().status, detail::Status::session_over);
}

TEST_F(ConnectionStates, HundredExpiriesKeepTheOrder) {
  Connection& connection = connect();
  StateLog log(connection);
  constexpr int kTimes = 100;
  for (int n = 1; n <= kTimes; ++n) {
    expire_session(connection);
    ASSERT_TRUE(wait_for([&] { return log.states().size() == static_cast<std::size_t>(3 * n); })) << n;
  }
  const auto states = log.states();
  for (std::size_t n = 0; n < states.size(); n += 3)
    EXPECT_THAT((std::vector<State>{states[n], states[n + 1], states[n + 2]}),
                ElementsAre(State::suspended, State::lost, State::connected));
}

TEST_F(ConnectionStates, NeverReachableStaysConnectingAndCloses) {
  proxy().refuse(true);
  Connection& connection = begin_connect(options_by_proxy(500ms));
  StateLog log(connection);
  EXPECT_FALSE(connection.wait_until_connected(2s)) << "longer than one handle lives";
  EXPECT_EQ(connection.state(), State::connecting);
  connection.close();
  EXPECT_THAT(log.states(), ElementsAre(State::closed));
  EXPECT_THROW(connection.wait_until_connected(1s), ConnectionClosed);
}

TEST_F(ConnectionStates, GivesUpOnUnreachableServersWhenToldSo) {
  proxy().refuse(true);
  ConnectionOptions options = options_by_proxy();
  options.retry.give_up_after = 300ms;
  Connection& connection = begin_connect(options);
  StateLog log(connection);
  try {
    connection.wait_until_connected(kLimit);
    FAIL() << "connected to nobody";
  } catch (const ConnectionClosed& closed) {
    EXPECT_THAT(closed.what(), HasSubstr("give_up_after"));
    EXPECT_THAT(closed.what(), HasSubstr(proxy().address()));
  }
  EXPECT_TRUE(log.wait_for(State::closed));
  proxy().refuse(false);
  EXPECT_THROW(connection.wait_until_connected(0ms), ConnectionClosed) << "closed is final";
}

TEST_F(ConnectionStates, GivesUpAfterALossWhenToldSo) {
  ConnectionOptions options = options_by_proxy(2s);
  options.retry.give_up_after = 500ms;
  Connection& connection = connect(options);
  StateLog log(connection);
  proxy().refuse(true);
  EXPECT_TRUE(log.wait_for({State::suspended, State::lost, State::closed}));
}

TEST_F(ConnectionStates, CloseEndsTheSessionAtOnce) {
  Connection& connection = connect();
  StateLog log(connection);
  const SyncClient client(connection);
  client.create(queue_node("/lock"));
  connection.close();
  connection.close();
  EXPECT_THAT(children("/lock"), ::testing::IsEmpty()) << "not only when the session would have timed out";
  EXPECT_THAT(log.states(), ElementsAre(State::closed));
  EXPECT_EQ(connection.session_id(), 0);
}

TEST_F(ConnectionStates, CallbackMayCloseWhileAnotherThreadCloses) {
  for (int round = 0; round < 20; ++round) {
    Connection& connection = connect();
    const Subscription subscription = connection.on_state_change([&](State) { connection.close(); });
    if (round % 2 == 0) expire_session(connection);
    auto closing = std::async(std::launch::async, [&] { connection.close(); });
    ASSERT_EQ(closing.wait_for(kLimit), std::future_status::ready) << "the two wait for each other";
    disconnect(connection);
  }
}

TEST_F(ConnectionStates, CallbackMayDestroyTheConnection) {
  plain();
  auto connection = std::make_unique<Connection>(options());
  ASSERT_TRUE(connection->wait_until_connected(kLimit));
  const auto session = connection->session_id();
  Answer<> destroyed;
  Subscription subscription = connection->on_state_change([&, done = destroyed.handler()](State) {
    if (!connection) return;
    std::exchange(connection, nullptr).reset();
    done();
  });
  expire(session);
  EXPECT_TRUE(destroyed.wait());
  subscription.disconnect_and_wait();  // the states that follow are still reported, with what is here
}

TEST_F(ConnectionStates, BlockingCallOnTheCallbackThreadIsRefused) {
  Connection& connection = connect();
  Answer<bool> refused;
  const Subscription subscription = connection.on_state_change([&](State) {
    if (refused.ready()) return;
    try {
      connection.wait_until_connected(1s);
      refused.handler()(false);
    } catch (const std::logic_error&) {
      refused.handler()(true);
    }
  });
  expire_session(connection);
  EXPECT_TRUE(refused.part());
  EXPECT_TRUE(connection.wait_until_connected(kLimit));
}

TEST_F(ConnectionStates, CallbackThatThrowsHidesNothingFromTheOthers) {
  Connection& connection = connect();
  const Subscription thrower = connection.on_state_change([](State) { throw std::runtime_error("on purpose"); });
  StateLog log(connection);
  expire_session(connection);
  EXPECT_TRUE(log.wait_for({State::suspended, State::lost, State::connected}));
}

TEST_F(ConnectionStates, EndedSubscriptionIsSilent) {
  Connection& connection = connect();
  std::atomic<int> calls{0};
  {
    const Subscription ended = connection.on_state_change([&](State) { ++calls; });
  }
  StateLog log(connection);
  expire_session(connection);
  ASSERT_TRUE(log.wait_for(State::connected));
  EXPECT_EQ(calls.load(), 0);
}

}  // namespace
}  // namespace zkrecipes::testing
