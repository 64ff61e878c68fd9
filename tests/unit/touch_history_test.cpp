// SPDX-License-Identifier: Apache-2.0
#include "connection/touch_history.h"

#include <gtest/gtest.h>

namespace zkrecipes::detail {
namespace {

using namespace std::chrono_literals;

constexpr auto kTimeout = 6s;  // half a tick counts as 1 s

/// A connection on which the test says what was sent and answered when.
class TouchHistoryTest : public ::testing::Test {
 protected:
  static TouchHistory::Time at(LeaseClock::duration time) { return TouchHistory::Time(100s + time); }
  void read(LeaseClock::duration sent, LeaseClock::duration answered) {
    history_.answered(at(sent), at(answered), false, kTimeout);
  }
  void leader_answers(LeaseClock::duration sent, LeaseClock::duration answered) {
    history_.answered(at(sent), at(answered), true, kTimeout);
  }
  LeaseClock::duration known(LeaseClock::duration write_sent) const {
    return history_.known_to_leader(at(write_sent), kTimeout) - at(0s);
  }

  TouchHistory history_;
};

TEST_F(TouchHistoryTest, AConnectIsKnownToTheLeader) {
  history_.connected(at(1s));
  EXPECT_EQ(known(1500ms), 1s);
  read(2s, 2100ms);
  EXPECT_EQ(known(5s), 1s) << "reads alone are known to one server only";
}

TEST_F(TouchHistoryTest, SteadyTrafficIsKnownToTheLeaderWithADelay) {
  history_.connected(at(0s));
  for (auto time = 0ms; time <= 10s; time += 600ms) leader_answers(time, time + 10ms);
  // The last one before the write was sent at 9.6 s; reports of it show what was answered until 8.6 s.
  EXPECT_EQ(known(10s), 8400ms);
}

TEST_F(TouchHistoryTest, RequestsThatWereHeldBackAndArriveTogetherProveNothingOfEachOther) {
  history_.connected(at(0s));
  for (auto time = 0ms; time <= 2s; time += 500ms) leader_answers(time, time + 10ms);
  // Nothing gets through from 2 s to 5 s; then all of it is answered at once.
  for (auto time = 2500ms; time < 5s; time += 500ms) leader_answers(time, 5s);
  EXPECT_EQ(known(4500ms), 500ms) << "sent before any of them was answered";
  EXPECT_EQ(known(5100ms), 2s)
      << "the newest answer had been asked for at 4.5 s, and reports what was answered by 3.5 s";
}

TEST_F(TouchHistoryTest, ReadsThatACutOffServerAnswersAreNotKnownToTheLeader) {
  history_.connected(at(0s));
  for (auto time = 0ms; time <= 2s; time += 500ms) leader_answers(time, time + 10ms);
  for (auto time = 2500ms; time < 5s; time += 500ms) read(time, time + 10ms);
  EXPECT_EQ(known(5s), 500ms) << "the leader's last answer was asked for at 2 s";
}

TEST_F(TouchHistoryTest, ANewConnectionForgetsTheOldOne) {
  history_.connected(at(0s));
  for (auto time = 0ms; time <= 10s; time += 600ms) leader_answers(time, time + 10ms);
  history_.connected(at(11s));
  EXPECT_EQ(known(12s), 11s);
}

TEST_F(TouchHistoryTest, ManyAnswersTakeLittleMemoryAndCountFromTheLastOfThem) {
  history_.connected(at(0s));
  for (auto time = 0us; time <= 8s; time += 500us) leader_answers(time, time + 400us);
  const auto result = known(8s);
  EXPECT_LE(result, 7s);
  EXPECT_GE(result, 6800ms);
}

}  // namespace
}  // namespace zkrecipes::detail
