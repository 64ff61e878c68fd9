// SPDX-License-Identifier: Apache-2.0
#include "connection/watch_table.h"

#include <gtest/gtest.h>

namespace zkrecipes::detail {
namespace {

using Kind = WatchTable::Kind;

class WatchTableTest : public ::testing::Test {
 protected:
  WatchTable::Id add(Kind kind, const std::string& path) {
    return table_.add(kind, path, [this](WatchEvent) { ++events_; });
  }
  WatchTable::Id add_armed(Kind kind, const std::string& path) {
    const WatchTable::Id id = add(kind, path);
    EXPECT_FALSE(table_.answered(id, true));
    return id;
  }
  std::size_t fire(const std::string& path, WatchEvent event) {
    const auto handlers = table_.take(path, event);
    for (const WatchHandler& handler : handlers) handler(event);
    return handlers.size();
  }
  void expect_empty() {
    EXPECT_EQ(table_.size(), 0u);
    EXPECT_EQ(table_.bytes(), 0u);
  }

  WatchTable table_;
  int events_ = 0;
};

TEST_F(WatchTableTest, EventReachesEachWaiterOnce) {
  add_armed(Kind::data, "/a");
  add_armed(Kind::data, "/a");
  add_armed(Kind::data, "/b");
  EXPECT_EQ(table_.size(), 3u);
  EXPECT_EQ(fire("/a", WatchEvent::deleted), 2u);
  EXPECT_EQ(fire("/a", WatchEvent::deleted), 0u);
  EXPECT_EQ(fire("/b", WatchEvent::changed), 1u);
  EXPECT_EQ(events_, 3);
  expect_empty();
}

TEST_F(WatchTableTest, EachKindGetsItsOwnEventsAndBothGetTheEndOfTheNode) {
  add_armed(Kind::data, "/a");
  add_armed(Kind::children, "/a");
  EXPECT_EQ(fire("/a", WatchEvent::children_changed), 1u);
  add_armed(Kind::children, "/a");
  EXPECT_EQ(fire("/a", WatchEvent::changed), 1u);
  add_armed(Kind::data, "/a");
  EXPECT_EQ(fire("/a", WatchEvent::deleted), 2u);
  expect_empty();
}

TEST_F(WatchTableTest, WaiterWhoseRequestIsStillInFlightIsNotNotifiedOfEarlierEvents) {
  add_armed(Kind::data, "/a");
  const WatchTable::Id later = add(Kind::data, "/a");
  EXPECT_EQ(fire("/a", WatchEvent::changed), 1u);
  EXPECT_FALSE(table_.answered(later, true));
  EXPECT_EQ(fire("/a", WatchEvent::changed), 1u);
  expect_empty();
}

TEST_F(WatchTableTest, FailedRequestLeavesNothing) {
  EXPECT_FALSE(table_.answered(add(Kind::data, "/a"), false));
  expect_empty();
}

TEST_F(WatchTableTest, LastWaiterToLeaveTakesTheWatchOffTheServer) {
  const WatchTable::Id first = add_armed(Kind::data, "/a");
  const WatchTable::Id second = add_armed(Kind::data, "/a");
  EXPECT_FALSE(table_.remove(first));
  const auto unwatch = table_.remove(second);
  ASSERT_TRUE(unwatch);
  EXPECT_EQ(unwatch->kind, RequestKind::unwatch_data);
  EXPECT_EQ(unwatch->path, "/a");
  expect_empty();
}

TEST_F(WatchTableTest, ChildWatchIsTakenOffAsSuch) {
  const auto unwatch = table_.remove(add_armed(Kind::children, "/a"));
  ASSERT_TRUE(unwatch);
  EXPECT_EQ(unwatch->kind, RequestKind::unwatch_children);
}

TEST_F(WatchTableTest, WaiterThatLeavesBeforeItsAnswerHasTheWatchTakenOffAfterIt) {
  const WatchTable::Id id = add(Kind::data, "/a");
  EXPECT_FALSE(table_.remove(id)) << "the request must be answered first";
  EXPECT_EQ(table_.size(), 0u);
  EXPECT_GT(table_.bytes(), 0u) << "the watch may be set all the same";
  EXPECT_TRUE(table_.answered(id, true));
  expect_empty();
}

TEST_F(WatchTableTest, WaiterThatLeavesBeforeItsRequestFailsLeavesNothing) {
  const WatchTable::Id id = add(Kind::data, "/a");
  table_.remove(id);
  EXPECT_FALSE(table_.answered(id, false));
  expect_empty();
}

TEST_F(WatchTableTest, WatchThatHasFiredNeedNotBeTakenOff) {
  add_armed(Kind::data, "/a");
  const WatchTable::Id in_flight = add(Kind::data, "/a");
  fire("/a", WatchEvent::changed);
  table_.remove(in_flight);
  EXPECT_FALSE(table_.answered(in_flight, false));
  expect_empty();
}

TEST_F(WatchTableTest, UnknownOrRepeatedRemovalsAreHarmless) {
  EXPECT_FALSE(table_.remove(0));
  EXPECT_FALSE(table_.remove(17));
  const WatchTable::Id id = add_armed(Kind::data, "/a");
  EXPECT_TRUE(table_.remove(id));
  EXPECT_FALSE(table_.remove(id));
  EXPECT_FALSE(table_.answered(id, true));
}

TEST_F(WatchTableTest, AnswersAfterTheEndOfTheSessionAreIgnored) {
  const WatchTable::Id in_flight = add(Kind::data, "/a");
  const WatchTable::Id left = add(Kind::data, "/b");
  table_.remove(left);
  table_.clear();
  EXPECT_FALSE(table_.answered(in_flight, true));
  EXPECT_FALSE(table_.answered(left, true));
  EXPECT_EQ(fire("/a", WatchEvent::deleted), 0u);
  expect_empty();
}

TEST_F(WatchTableTest, RepeatedUnwatchIsNotSentWhenSomebodyWaitsAgain) {
  const auto unwatch = table_.remove(add_armed(Kind::data, "/a"));
  ASSERT_TRUE(unwatch);
  EXPECT_FALSE(table_.is_wanted(*unwatch));
  const WatchTable::Id again = add(Kind::data, "/a");
  EXPECT_TRUE(table_.is_wanted(*unwatch)) << "its request may be answered before the unwatch";
  table_.answered(again, true);
  EXPECT_TRUE(table_.is_wanted(*unwatch));
  EXPECT_FALSE(table_.is_wanted({RequestKind::unwatch_children, "/a"}));
  EXPECT_FALSE(table_.is_wanted({RequestKind::get, "/a"})) << "only an unwatch can be unwanted";
}

TEST_F(WatchTableTest, BytesCountEachPathOnce) {
  add(Kind::data, "/abc");
  const std::size_t one = table_.bytes();
  EXPECT_GE(one, 4u);
  add(Kind::data, "/abc");
  EXPECT_EQ(table_.bytes(), one);
  add(Kind::children, "/abc");
  EXPECT_EQ(table_.bytes(), 2 * one);
}

class WatchTableReconnectTest : public WatchTableTest {
 protected:
  WatchTableReconnectTest() { EXPECT_FALSE(table_.answered(add(Kind::data, "/a"), true, kMzxid)); }
  /// Reconnects, and answers the one request that this asks for.
  WatchTable::Missed reconnect(Status status, std::int64_t mzxid) {
    const auto reconnected = table_.reconnected();
    EXPECT_EQ(reconnected.again.size(), 1u);
    EXPECT_EQ(reconnected.again.front().path, "/a");
    Reply reply;
    reply.status = status;
    reply.stat.mzxid = mzxid;
    return table_.rewatched(reconnected.again.front().id, reply);
  }
  static constexpr std::int64_t kMzxid = 7;
};

TEST_F(WatchTableReconnectTest, NodeThatHasNotChangedIsWatchedAgainAndNobodyIsWoken) {
  const auto missed = reconnect(Status::ok, kMzxid);
  EXPECT_TRUE(missed.handlers.empty());
  EXPECT_FALSE(missed.unwatch);
  EXPECT_EQ(fire("/a", WatchEvent::deleted), 1u);
  expect_empty();
}

TEST_F(WatchTableReconnectTest, NodeThatWasDeletedMeanwhileIsReportedAsDeleted) {
  const auto missed = reconnect(Status::no_node, 0);
  EXPECT_EQ(missed.handlers.size(), 1u);
  EXPECT_EQ(missed.event, WatchEvent::deleted);
  EXPECT_FALSE(missed.unwatch);
  expect_empty();
}

TEST_F(WatchTableReconnectTest, NodeThatWasChangedOrReplacedMeanwhileIsReportedAsChanged) {
  const auto missed = reconnect(Status::ok, kMzxid + 1);
  EXPECT_EQ(missed.handlers.size(), 1u);
  EXPECT_EQ(missed.event, WatchEvent::changed);
  ASSERT_TRUE(missed.unwatch) << "the answer has set a watch that nobody wants";
  EXPECT_EQ(missed.unwatch->path, "/a");
  expect_empty();
}

TEST_F(WatchTableReconnectTest, WaiterThatLeavesBeforeTheAnswerIsNotWokenAndTheWatchIsTakenOff) {
  const auto reconnected = table_.reconnected();
  const auto later = add(Kind::data, "/b");
  EXPECT_FALSE(table_.remove(later));
  EXPECT_FALSE(table_.answered(later, false));
  Reply reply;
  reply.stat.mzxid = kMzxid;
  for (WatchTable::Id id = 1; id < 4; ++id) table_.remove(id);
  const auto missed = table_.rewatched(reconnected.again.front().id, reply);
  EXPECT_TRUE(missed.handlers.empty());
  EXPECT_TRUE(missed.unwatch);
  expect_empty();
}

TEST_F(WatchTableReconnectTest, SecondReconnectBeforeTheAnswerAsksOnlyOnce) {
  const auto first = table_.reconnected();
  EXPECT_TRUE(table_.reconnected().again.empty()) << "the request is sent again by its sender";
  Reply reply;
  reply.stat.mzxid = kMzxid;
  EXPECT_TRUE(table_.rewatched(first.again.front().id, reply).handlers.empty());
  EXPECT_EQ(fire("/a", WatchEvent::deleted), 1u);
  expect_empty();
}

TEST_F(WatchTableReconnectTest, ChildWatchesAreNotifiedToListAgain) {
  fire("/a", WatchEvent::changed);
  add_armed(Kind::children, "/c");
  const auto reconnected = table_.reconnected();
  EXPECT_TRUE(reconnected.again.empty());
  EXPECT_EQ(reconnected.children.size(), 1u);
  expect_empty();
}

TEST_F(WatchTableReconnectTest, WhatTheServerHasIsTakenOffWhenAHandleIsReturned) {
  add_armed(Kind::children, "/c");
  add(Kind::data, "/in-flight");
  const auto requests = table_.unwatch_all();
  ASSERT_EQ(requests.size(), 3u);
  EXPECT_EQ(requests[0].kind, RequestKind::unwatch_data);
  EXPECT_EQ(requests[0].path, "/a");
  EXPECT_EQ(requests[1].path, "/in-flight");
  EXPECT_EQ(requests[2].kind, RequestKind::unwatch_children);
}

}  // namespace
}  // namespace zkrecipes::detail
