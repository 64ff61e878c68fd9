// SPDX-License-Identifier: Apache-2.0
// Scenario 35: lost by our own clock before the server can expire us.
#include <algorithm>
#include <atomic>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iostream>
#include <thread>

#include "tests/support/fixture.h"

namespace zkrecipes::testing {
namespace {

using namespace std::chrono_literals;
using connection::SessionPtr;
using connection::Status;
using State = ConnectionState;

std::chrono::milliseconds to_ms(Clock::duration duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration);
}

class LeaseTest : public ControlledServerTest {};

TEST_F(LeaseTest, HeartbeatsKeepAnIdleSessionValid) {
  Connection& connection = connect(options(4s));
  StateLog log(connection);
  const SessionPtr session = SyncClient(connection).session();
  const auto begin = session->lease().valid_until();
  EXPECT_TRUE(wait_for([&] { return session->lease().valid_until() > begin + 4s; }));
  EXPECT_TRUE(session->lease().is_valid(Clock::now()));
  EXPECT_TRUE(log.states().empty());
}

TEST_F(LeaseTest, AcknowledgedRequestCountsFromItsSendTimeAndNotFromItsAnswer) {
  Connection& connection = connect_by_proxy(20s);
  const SyncClient client(connection);
  client.sync("/");
  const SessionPtr session = client.session();
  proxy().hold_reply(RequestKind::sync);
  const auto before = Clock::now();
  const auto answer = client.begin(connection::RequestKind::sync, "/");
  const auto after = Clock::now();
  ASSERT_TRUE(proxy().wait_until_fired(kLimit));
  ASSERT_TRUE(wait_for([&] { return Clock::now() > after + 200ms; }));
  proxy().release_held();
  answer.get();
  EXPECT_GE(session->lease().valid_until(), before + 15s);
  EXPECT_LE(session->lease().valid_until(), after + 15s);
}

TEST_F(LeaseTest, ConfiguredMarginIsKeptBack) {
  ConnectionOptions wide = options(20s);
  wide.validity_margin = 8s;
  Connection& connection = connect(wide);
  const SyncClient client(connection);
  client.sync("/");
  const auto left = client.session()->lease().valid_until() - Clock::now();
  EXPECT_LE(left, 12s);
  EXPECT_GT(left, 7s);
}

TEST_F(LeaseTest, ReconnectingAloneDoesNotProlongIt) {
  Connection& connection = connect_by_proxy(20s);
  const SyncClient client(connection);
  client.sync("/");
  const SessionPtr session = client.session();
  // Requests do not get through any more, but connections do.
  proxy().refuse(true);
  ASSERT_TRUE(wait_for_state(connection, State::suspended));
  const auto before = session->lease().valid_until();
  proxy().hold_reply(RequestKind::exists);
  proxy().refuse(false);
  ASSERT_TRUE(wait_for_state(connection, State::connected));
  EXPECT_EQ(session->lease().valid_until(), before);
}

// A frozen server neither answers nor expires; what counts is that we do not believe in the session any longer.
TEST_F(LeaseTest, IsOverInTimeOnAPausedServer) {
  ServerOptions options;
  options.own_process = true;
  TestServer& own = use_own_server(options);
  Connection& connection = connect(this->options(2s));
  StateLog log(connection);
  const SyncClient client(connection);
  const SessionPtr session = client.session();
  Answer<> over;
  session->on_over(over.handler());
  client.create(queue_node("/lock"));
  own.process().pause();
  const auto paused = Clock::now();
  EXPECT_TRUE(over.wait());
  own.process().resume();
  EXPECT_LE(session->lease().valid_until(), paused + 1500ms) << "nothing was sent after the pause that was answered";
  EXPECT_FALSE(session->lease().is_valid(Clock::now()));
  EXPECT_TRUE(log.wait_for({State::suspended, State::lost, State::connected}));
  EXPECT_TRUE(wait_for_children("/lock", 0));
}

// The server tells when it has expired a session by removing its node, seen by a watcher that is connected directly.
// Many connections share one black hole per round, so a hundred tries take a few seconds. How soon listeners are told
// depends on the machine as well; what is promised, and checked, is the deadline.
TEST_F(LeaseTest, IsOverBeforeTheServerExpiresABlackHoledSessionInAHundredOfAHundredTries) {
  constexpr int kTries = 100;
  constexpr int kPerRound = 50;
  constexpr auto kTimeout = 3000ms;
  SyncClient witness(connect());
  std::vector<std::chrono::milliseconds> margins;
  std::vector<std::chrono::milliseconds> told_margins;
  for (int done = 0; done < kTries; done += kPerRound) {
    struct Try {
      Connection* connection;
      SessionPtr session;
      SyncClient::Watch watch;
      Answer<Clock::time_point> over;
      Answer<Clock::time_point> expired;
    };
    std::vector<Try> tries(kPerRound);
    for (Try& each : tries) each.connection = &begin_connect(options_by_proxy(kTimeout));
    for (Try& each : tries) {
      ASSERT_TRUE(each.connection->wait_until_connected(kLimit));
      const SyncClient client(*each.connection);
      const auto node = client.create(queue_node("/lock"));
      each.session = client.session();
      each.session->on_over([handler = each.over.handler()] { handler(Clock::now()); });
      witness.client().watch_node(
          witness.session(), node.path,
          [handler = each.expired.handler()](connection::WatchEvent) { handler(Clock::now()); },
          each.watch.reply.handler());
      ASSERT_EQ(each.watch.reply.part().status, Status::ok);
    }
    proxy().black_hole();
    for (Try& each : tries) {
      const auto expired = each.expired.part();
      margins.push_back(to_ms(expired - each.session->lease().valid_until()));
      told_margins.push_back(to_ms(expired - each.over.part()));
      EXPECT_GT(margins.back().count(), 0) << "the server expired a session that we believed in";
    }
    for (Try& each : tries) disconnect(*each.connection);
    proxy().heal();
  }
  std::sort(margins.begin(), margins.end());
  std::sort(told_margins.begin(), told_margins.end());
  ASSERT_EQ(margins.size(), static_cast<std::size_t>(kTries));
  std::cout << "black hole, session timeout " << kTimeout.count()
            << " ms: the lease ended before the server's expiry in "
            << std::count_if(margins.begin(), margins.end(), [](auto margin) { return margin > 0ms; }) << " of "
            << kTries << " tries; margin of the deadline min " << margins.front().count() << " ms, median "
            << margins[kTries / 2].count() << " ms; of the notice min " << told_margins.front().count()
            << " ms, median " << told_margins[kTries / 2].count() << " ms\n";
}

}  // namespace
}  // namespace zkrecipes::testing
