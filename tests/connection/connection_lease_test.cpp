// SPDX-License-Identifier: Apache-2.0
// A lease is over by our own clock before the server can expire the session.
#include <algorithm>
#include <atomic>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iostream>
#include <thread>

#include "connection/system_world.h"
#include "tests/support/fixture.h"

namespace zkrecipes::testing {
namespace {

using namespace std::chrono_literals;
using detail::SessionPtr;
using detail::Status;
using State = ConnectionState;
using detail::LeaseClock;
using detail::NodeRole;

std::chrono::milliseconds to_ms(Clock::duration duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration);
}

class LeaseTest : public ControlledServerTest {};

TEST_F(LeaseTest, HeartbeatsKeepAnIdleSessionValid) {
  Connection& connection = connect(options(4s));
  StateLog log(connection);
  const SessionPtr session = SyncClient(connection).session();
  const auto begin = session->contact().valid_until();
  EXPECT_TRUE(wait_for([&] { return session->contact().valid_until() > begin + 4s; }));
  EXPECT_FALSE(session->is_over());
  EXPECT_FALSE(session->lease().covers(LeaseClock::now())) << "reads prove nothing to those who hold";
  EXPECT_TRUE(log.states().empty());
}

TEST_F(LeaseTest, ProofCountsFromWhenItWasSentAndNotFromItsAnswer) {
  Connection& connection = connect_by_proxy(20s);
  const SyncClient client(connection);
  const auto node = client.create(queue_node("/lock"));
  const SessionPtr session = client.session();
  proxy().hold_reply(RequestKind::set_data);
  const auto before = LeaseClock::now();
  Answer<Status> answer;
  client.client().prove(session, node.path, answer.handler());
  const auto after = LeaseClock::now();
  ASSERT_TRUE(proxy().wait_until_fired(kLimit));
  ASSERT_TRUE(wait_for([&] { return LeaseClock::now() > after + 200ms; }));
  proxy().release_held();
  EXPECT_EQ(answer.part(), Status::ok);
  EXPECT_GE(session->lease().valid_until(), before + 15s);
  EXPECT_LE(session->lease().valid_until(), after + 15s);
  EXPECT_EQ(client.remove(node.path), Status::ok);
}

TEST_F(LeaseTest, OnlyAnswersThatAQuorumHasCommittedRenewIt) {
  Connection& connection = connect(options(20s));
  const SyncClient client(connection);
  const SessionPtr session = client.session();
  const auto node = client.create(queue_node("/lock"));
  const auto proved = session->lease().proved_at();
  client.sync("/");
  client.list("/lock");
  client.exists(node.path);
  EXPECT_EQ(session->lease().proved_at(), proved) << "a server can answer these that is cut off from the others";
  EXPECT_EQ(client.remove(node.path), Status::ok);
  EXPECT_GT(session->lease().proved_at(), proved);
}

TEST_F(LeaseTest, ProvedByTheLeaderAlsoWithSyncWhereTheProgramWantsThat) {
  ConnectionOptions cheap = options(20s);
  cheap.lease_proof = LeaseProof::leader;
  Connection& connection = connect(cheap);
  const SyncClient client(connection);
  const SessionPtr session = client.session();
  client.sync("/");  // behind the first heartbeat, which has one, too
  const auto proved = session->lease().proved_at();
  client.list("/");
  EXPECT_EQ(session->lease().proved_at(), proved);
  client.sync("/");
  EXPECT_GT(session->lease().proved_at(), proved);
}

TEST_F(LeaseTest, ProofOfANodeThatIsGoneSaysSoAndChangesNoNode) {
  Connection& connection = connect(options(20s));
  const SyncClient client(connection);
  const auto node = client.create(queue_node("/lock"));
  const auto watch = client.begin_watch(node.path);
  ASSERT_EQ(watch.reply.part().status, Status::ok);
  Answer<Status> there;
  client.client().prove(client.session(), node.path, there.handler());
  EXPECT_EQ(there.part(), Status::ok);
  EXPECT_EQ(client.get(node.path).stat.version, 0);
  EXPECT_FALSE(watch.event.ready()) << "no watch fires";
  client.remove(node.path);
  Answer<Status> gone;
  client.client().prove(client.session(), node.path, gone.handler());
  EXPECT_EQ(gone.part(), Status::no_node);
}

TEST_F(LeaseTest, ConfiguredMarginIsKeptBack) {
  ConnectionOptions wide = options(20s);
  wide.validity_margin = 8s;
  Connection& connection = connect(wide);
  const SyncClient client(connection);
  client.sync("/");
  // A heartbeat may renew it between two readings, so the clock is read last.
  const auto until = client.session()->contact().valid_until();
  const auto left = until - LeaseClock::now();
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
  const auto contact = session->contact().valid_until();
  proxy().hold_reply(RequestKind::set_data);
  proxy().refuse(false);
  ASSERT_TRUE(wait_for_state(connection, State::connected));
  EXPECT_EQ(session->lease().valid_until(), before);
  EXPECT_EQ(session->contact().valid_until(), contact);
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
  const auto node = client.create(queue_node("/lock"));
  client.client().probe(session, node.path, NodeRole::holds, 0, [] {});
  own.process().pause();
  const auto paused = LeaseClock::now();
  EXPECT_TRUE(over.wait());
  own.process().resume();
  EXPECT_LE(session->lease().valid_until(), paused + 1500ms) << "nothing was sent after the pause that was answered";
  EXPECT_FALSE(session->lease().is_valid(LeaseClock::now()));
  EXPECT_TRUE(log.wait_for({State::suspended, State::lost, State::connected}));
  EXPECT_TRUE(wait_for_children("/lock", 0));
}

// The server removes the node of a session when it expires it; a watcher that is connected directly sees that. Many
// connections share one black hole per round, so a hundred tries take a few seconds. How soon listeners are notified
// depends on the machine as well; the deadline is promised and checked.
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
      client.client().probe(each.session, node.path, NodeRole::holds, 0, [] {});
      each.session->on_over([handler = each.over.handler()] { handler(Clock::now()); });
      witness.client().watch_node(
          witness.session(), node.path,
          [handler = each.expired.handler()](detail::WatchEvent) { handler(Clock::now()); },
          each.watch.reply.handler());
      ASSERT_EQ(each.watch.reply.part().status, Status::ok);
    }
    proxy().black_hole();
    for (Try& each : tries) {
      const auto expired = each.expired.part();
      margins.push_back(to_ms(expired - detail::system_world()->to_public(each.session->lease().valid_until())));
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
