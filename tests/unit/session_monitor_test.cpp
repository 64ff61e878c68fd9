// SPDX-License-Identifier: Apache-2.0
#include "connection/session_monitor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zkrecipes::detail {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using State = ConnectionState;

const Lease::Time kStart{1000s};

class SessionMonitorTest : public ::testing::Test {
 protected:
  void connect(std::int64_t id = 1, Lease::Time now = kStart) {
    monitor_.connected(id, 8s, now, now);
    monitor_.take_changes();
  }
  SessionMonitor monitor_{std::nullopt};
};

TEST_F(SessionMonitorTest, BeginsConnectingWithoutASession) {
  EXPECT_EQ(monitor_.state(), State::connecting);
  EXPECT_EQ(monitor_.session(), nullptr);
  EXPECT_FALSE(monitor_.deadline());
  EXPECT_THAT(monitor_.take_changes(), IsEmpty());
}

TEST_F(SessionMonitorTest, ConnectedMakesASessionWithAQuarterKeptBack) {
  monitor_.connected(1, 8s, kStart, kStart);
  EXPECT_THAT(monitor_.take_changes(), ElementsAre(State::connected));
  EXPECT_THAT(monitor_.take_changes(), IsEmpty()) << "each state is reported once";
  EXPECT_EQ(monitor_.session()->id(), 1);
  EXPECT_EQ(monitor_.deadline(), kStart + 6s);
}

TEST_F(SessionMonitorTest, ConfiguredMarginIsUsedButLeavesHalfOfTheTimeout) {
  SessionMonitor monitor(1s);
  monitor.connected(1, 8s, kStart, kStart);
  EXPECT_EQ(monitor.deadline(), kStart + 7s);
  SessionMonitor greedy(60s);
  greedy.connected(1, 8s, kStart, kStart);
  EXPECT_EQ(greedy.deadline(), kStart + 4s);
}

TEST_F(SessionMonitorTest, AMarginThatIsTooSmall_LeavesTheShareForClocks) {
  for (const auto margin : {0ms, 399ms, 400ms}) {
    SessionMonitor monitor(margin);
    monitor.connected(1, 8s, kStart, kStart);
    EXPECT_EQ(monitor.deadline(), kStart + 7600ms) << margin.count();
    monitor.connected(1, 6s, kStart, kStart);
    EXPECT_EQ(monitor.session()->lease().length(), margin < 300ms ? 5700ms : 6000ms - margin)
        << "of the timeout that is negotiated again";
  }
}

TEST_F(SessionMonitorTest, ShortOutageIsSuspendedThenConnectedInTheSameSession) {
  connect();
  const SessionPtr session = monitor_.session();
  monitor_.disconnected();
  EXPECT_EQ(monitor_.state(), State::suspended);
  monitor_.connected(1, 8s, kStart + 5s, kStart + 5s);
  EXPECT_THAT(monitor_.take_changes(), ElementsAre(State::suspended, State::connected));
  EXPECT_EQ(monitor_.session(), session);
  EXPECT_EQ(monitor_.deadline(), kStart + 6s) << "being connected again proves nothing about the lease";
  EXPECT_THAT(monitor_.take_ended(), IsEmpty());
}

TEST_F(SessionMonitorTest, ExpiryIsSuspendedThenLost) {
  connect();
  const SessionPtr session = monitor_.session();
  monitor_.disconnected();
  monitor_.expired();
  EXPECT_THAT(monitor_.take_changes(), ElementsAre(State::suspended, State::lost));
  EXPECT_TRUE(monitor_.has_ended());
  EXPECT_THAT(monitor_.take_ended(), ElementsAre(session));
  EXPECT_FALSE(monitor_.has_ended());
  EXPECT_EQ(monitor_.session(), nullptr);
}

TEST_F(SessionMonitorTest, ExpiryOutOfTheBlueIsStillSuspendedBeforeLost) {
  connect();
  monitor_.expired();
  EXPECT_THAT(monitor_.take_changes(), ElementsAre(State::suspended, State::lost));
}

TEST_F(SessionMonitorTest, LeaseThatRunsOutIsALostSession) {
  connect();
  monitor_.tick(kStart + 6s - 1ns);
  EXPECT_THAT(monitor_.take_changes(), IsEmpty());
  monitor_.tick(kStart + 6s);
  EXPECT_THAT(monitor_.take_changes(), ElementsAre(State::suspended, State::lost));
  EXPECT_THAT(monitor_.take_ended(), SizeIs(1));
  EXPECT_FALSE(monitor_.deadline());
  monitor_.tick(kStart + 7s);
  EXPECT_THAT(monitor_.take_changes(), IsEmpty());
}

TEST_F(SessionMonitorTest, AnswersMoveTheDeadlineOfASessionWithoutHolds) {
  connect();
  monitor_.session()->contact().renew(kStart + 3s, kStart + 4s, true);
  EXPECT_EQ(monitor_.deadline(), kStart + 9s);
  monitor_.tick(kStart + 8s);
  EXPECT_EQ(monitor_.state(), State::connected);
}

TEST_F(SessionMonitorTest, AnswersWithoutProofDoNotMoveTheDeadlineOfASessionWithHolds) {
  connect();
  monitor_.set_relied_on(true);
  monitor_.session()->contact().renew(kStart + 5s, kStart + 5s, true);
  EXPECT_EQ(monitor_.deadline(), kStart + 6s);
  monitor_.session()->lease().renew(kStart + 5s, kStart + 5s, true);
  EXPECT_EQ(monitor_.deadline(), kStart + 11s);
  monitor_.session()->contact().renew(kStart + 10s, kStart + 10s, true);
  monitor_.tick(kStart + 11s);
  EXPECT_EQ(monitor_.state(), State::lost);
  EXPECT_FALSE(monitor_.relied_on());
}

TEST_F(SessionMonitorTest, ReconnectWithATimeoutThatIsOverAlreadyLosesTheSession) {
  connect();
  monitor_.disconnected();
  monitor_.connected(1, 2s, kStart + 4s, kStart + 4s);
  EXPECT_THAT(monitor_.take_changes(), ElementsAre(State::suspended, State::lost));
  EXPECT_THAT(monitor_.take_ended(), SizeIs(1));
}

TEST_F(SessionMonitorTest, LeaseThatAReaderEndedIsNoticedAtTheNextTick) {
  connect();
  EXPECT_FALSE(monitor_.session()->lease().is_valid(kStart + 6s));
  monitor_.tick(kStart);
  EXPECT_EQ(monitor_.state(), State::lost);
}

TEST_F(SessionMonitorTest, ComingBackAfterTheLeaseIsANewSessionAlsoUnderTheSameId) {
  connect();
  const SessionPtr old = monitor_.session();
  monitor_.disconnected();
  monitor_.connected(1, 8s, kStart + 7s, kStart + 7s);
  EXPECT_THAT(monitor_.take_changes(), ElementsAre(State::suspended, State::lost, State::connected));
  EXPECT_THAT(monitor_.take_ended(), ElementsAre(old));
  EXPECT_NE(monitor_.session(), old);
  EXPECT_EQ(monitor_.deadline(), kStart + 13s);
}

TEST_F(SessionMonitorTest, AnotherIdIsAnotherSession) {
  connect(1);
  monitor_.connected(2, 8s, kStart + 1s, kStart + 1s);
  EXPECT_THAT(monitor_.take_changes(), ElementsAre(State::suspended, State::lost, State::connected));
  EXPECT_EQ(monitor_.session()->id(), 2);
}

TEST_F(SessionMonitorTest, RepeatedEventsAreReportedOnce) {
  connect();
  monitor_.connected(1, 8s, kStart, kStart);
  EXPECT_THAT(monitor_.take_changes(), IsEmpty());
  monitor_.disconnected();
  monitor_.disconnected();
  EXPECT_THAT(monitor_.take_changes(), ElementsAre(State::suspended));
  monitor_.expired();
  monitor_.expired();
  EXPECT_THAT(monitor_.take_changes(), ElementsAre(State::lost));
}

TEST_F(SessionMonitorTest, EventsWithoutASessionChangeNothing) {
  monitor_.disconnected();
  monitor_.expired();
  monitor_.tick(kStart);
  EXPECT_EQ(monitor_.state(), State::connecting);
  EXPECT_THAT(monitor_.take_changes(), IsEmpty());
  EXPECT_THAT(monitor_.take_ended(), IsEmpty());
}

TEST_F(SessionMonitorTest, DisconnectAfterLostStaysLost) {
  connect();
  monitor_.expired();
  monitor_.disconnected();
  EXPECT_EQ(monitor_.state(), State::lost);
}

TEST_F(SessionMonitorTest, ClosedIsFinalFromEveryState) {
  for (int stage = 0; stage < 4; ++stage) {
    SessionMonitor monitor(std::nullopt);
    if (stage >= 1) monitor.connected(1, 8s, kStart, kStart);
    if (stage >= 2) monitor.disconnected();
    if (stage >= 3) monitor.expired();
    monitor.take_changes();
    monitor.take_ended();
    monitor.closed();
    EXPECT_THAT(monitor.take_changes(), ElementsAre(State::closed));
    EXPECT_THAT(monitor.take_ended(), SizeIs(stage == 1 || stage == 2 ? 1 : 0));
    monitor.connected(2, 8s, kStart, kStart);
    monitor.disconnected();
    monitor.expired();
    monitor.tick(kStart + 100s);
    monitor.closed();
    EXPECT_THAT(monitor.take_changes(), IsEmpty());
    EXPECT_EQ(monitor.state(), State::closed);
    EXPECT_EQ(monitor.session(), nullptr);
  }
}

// For every order of events: lost only after suspended, connected only with a session, no state twice in a row.
TEST_F(SessionMonitorTest, EveryOrderOfFiveEventsKeepsTheRules) {
  constexpr int kEvents = 5;
  int orders = 1;
  for (int n = 0; n < kEvents; ++n) orders *= kEvents;
  for (int order = 0; order < orders; ++order) {
    SessionMonitor monitor(std::nullopt);
    State last = State::connecting;
    Lease::Time now = kStart;
    int code = order;
    for (int n = 0; n < kEvents; ++n, code /= kEvents) {
      now += 1s;
      switch (code % kEvents) {
        case 0:
          monitor.connected(1 + n / 2, 8s, now, now);
          break;
        case 1:
          monitor.disconnected();
          break;
        case 2:
          monitor.expired();
          break;
        case 3:
          now += 10s;
          monitor.tick(now);
          break;
        default:
          monitor.tick(now);
      }
      for (const State state : monitor.take_changes()) {
        EXPECT_NE(state, last) << "in order " << order;
        EXPECT_TRUE(state != State::lost || last == State::suspended) << "in order " << order;
        last = state;
      }
      EXPECT_EQ(last, monitor.state());
      const bool has_session = last == State::connected || last == State::suspended;
      EXPECT_EQ(monitor.session() != nullptr, has_session) << "in order " << order;
    }
  }
}

}  // namespace
}  // namespace zkrecipes::detail
