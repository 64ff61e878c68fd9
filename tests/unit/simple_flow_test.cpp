// SPDX-License-Identifier: Apache-2.0
#include "recipes/simple_flow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>

#include "recipes/node_data.h"
#include "tests/unit/flow_driver.h"
#include "tests/unit/flow_explorer.h"
#include "zkrecipes/error.h"

namespace zkrecipes::detail {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Driver = FlowDriver<SimpleFlow>;

SimpleFlow flow(Patience patience = Patience::queue) {
  return SimpleFlow(std::make_shared<const SimpleSpec>(SimpleSpec{"/jobs/nightly", {}, "me"}), patience);
}

Driver watching() {
  Driver driver(flow());
  driver.session_ready().node_exists().watch_set();
  return driver;
}

TEST(SimpleFlow, AFreeLock_TakesOneCreate) {
  Driver driver(flow());
  EXPECT_THAT(driver.session_ready("g1").actions(), ElementsAre("Create"));
  const CreateSpec& create = driver.last<action::Create>().spec;
  EXPECT_EQ(create.parent, "/jobs");
  EXPECT_EQ(create.name, "nightly");
  EXPECT_EQ(create.mode, CreateMode::ephemeral);
  EXPECT_EQ(create.guid_place, GuidPlace::in_data);
  EXPECT_EQ(create.data, data_with_guid("me", "g1"));
  EXPECT_THAT(driver.created().actions(), ElementsAre("MakeHold"));
  EXPECT_THAT(driver.granted().actions(), IsEmpty());
  EXPECT_EQ(driver.hold()->grant.node, "/jobs/nightly");
  EXPECT_EQ(driver.hold()->grant.shared_czxid, 101) << "others use this path, too";
  EXPECT_EQ(driver.hold()->grant.token, (FencingToken{101, 0}));
}

TEST(SimpleFlow, AWaiter_WatchesTheHolderAndRacesWhenItIsGone) {
  Driver driver(flow());
  EXPECT_THAT(driver.session_ready().node_exists().actions(), ElementsAre("WatchNode", "Wait"));
  EXPECT_THAT(driver.waits(), ElementsAre(1));
  EXPECT_THAT(driver.watch_set().actions(), IsEmpty());
  EXPECT_THAT(driver.changed().actions(), ElementsAre("Create"));
  driver.created().granted();
  EXPECT_EQ(driver.hold()->grant.cost.queue_position, 1);
}

TEST(SimpleFlow, AWaiterThatLosesTheRace_WatchesAgain) {
  EXPECT_THAT(watching().changed().node_exists().actions(), ElementsAre("WatchNode"));
}

TEST(SimpleFlow, AHolderThatLeftBeforeItWasWatched_IsRacedFor) {
  Driver driver(flow());
  EXPECT_THAT(driver.session_ready().node_exists().watch_set(Status::no_node).actions(), ElementsAre("Create"));
}

TEST(SimpleFlow, APersistentNodeAtThePath_IsNobodysLock) {
  Driver driver(flow());
  driver.session_ready().node_exists().watch_set(Status::ok, 0);
  EXPECT_THAT(driver.actions(), ElementsAre("Unwatch", "Fail"));
  try {
    std::rethrow_exception(driver.failed()->error);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unusable_path);
  }
}

TEST(SimpleFlow, AHolderWhoseNodeMayNotBeRead_IsWaitedForByWatchingTheParent) {
  Driver driver(flow());
  driver.session_ready().node_exists();
  EXPECT_THAT(driver.watch_refused().actions(), ElementsAre("Unwatch", "Look"));
  Driver gone = driver;
  EXPECT_THAT(gone.looked(false).actions(), ElementsAre("Create"));
  EXPECT_THAT(driver.looked(true).actions(), ElementsAre("WatchChildren"));
  EXPECT_EQ(driver.last<action::WatchChildren>().path, "/jobs");
  EXPECT_THAT(driver.children_watched({"daily", "nightly"}, Topic::line).actions(), IsEmpty());
  EXPECT_THAT(driver.changed(Topic::line, WatchEvent::children_changed).actions(), ElementsAre("WatchChildren"));
  Driver parent_gone = driver;
  EXPECT_THAT(driver.children_watched({"daily"}, Topic::line).actions(), ElementsAre("Unwatch", "Create"));
  driver.created().granted();
  EXPECT_THAT(parent_gone.children_watch_no_node(Topic::line).actions(), ElementsAre("Create"));
}

TEST(SimpleFlow, APersistentNodeThatMayNotBeRead_IsNobodysLock) {
  Driver driver(flow());
  driver.session_ready().node_exists().watch_refused().looked(true, 0);
  EXPECT_THAT(driver.actions(), ElementsAre("Fail"));
  EXPECT_TRUE(driver.failed()->error);
}

TEST(SimpleFlow, SessionExpiry_StartsAgainAndRemovesNothing) {
  EXPECT_THAT(watching().session_over().actions(), ElementsAre("Unwatch", "AwaitSession"));
  Driver first(flow());
  first.session_ready().created();
  EXPECT_THAT(first.session_over().actions(), ElementsAre("AwaitSession"))
      << "another client's node may stand there by now";
  EXPECT_THAT(first.session_ready().actions(), ElementsAre("Create"));
  EXPECT_EQ(first.last<action::Create>().spec.guid, "guid2");
}

TEST(SimpleFlow, ALeaseThatRanOutBeforeTheGrant_GivesTheNodeBackByItsCzxid) {
  Driver driver(flow());
  driver.session_ready().created().lease_over();
  EXPECT_THAT(driver.actions(), ElementsAre("Remove", "AwaitSession"));
}

TEST(SimpleFlow, ANodeThatTheProofDoesNotFind_IsRacedForAgain) {
  Driver driver(flow());
  EXPECT_THAT(driver.session_ready().created().hold_node_gone().actions(), ElementsAre("Create"));
}

TEST(SimpleFlow, Leaving_TakesWatchOrNodeBack) {
  EXPECT_THAT(watching().left().actions(), ElementsAre("Unwatch"));
  Driver driver(flow());
  driver.session_ready().created().left();
  EXPECT_EQ(driver.last<action::Remove>().path, "/jobs/nightly");
  EXPECT_EQ(driver.last<action::Remove>().czxid, 101);
}

TEST(SimpleFlow, ARefusal_EndsItWithItsReason) {
  Driver driver = watching();
  EXPECT_THAT(driver.refused(Status::closed).actions(), ElementsAre("Unwatch", "Fail"));
  EXPECT_EQ(driver.failed()->status, Status::closed);
}

TEST(SimpleFlow, ATry_LooksBeforeItRaces) {
  Driver driver(flow(Patience::try_once));
  EXPECT_THAT(driver.session_ready().actions(), ElementsAre("Look"));
  Driver taken = driver;
  EXPECT_THAT(taken.looked(true).actions(), ElementsAre("NotServed"));
  Driver folder = driver;
  EXPECT_THAT(folder.looked(true, 0).actions(), ElementsAre("Fail")) << "no lock, but the folder of one, or data";
  Driver outrun = driver;
  EXPECT_THAT(outrun.looked(false).node_exists().actions(), ElementsAre("NotServed"));
  Driver lost = driver;
  EXPECT_THAT(lost.session_over().actions(), ElementsAre("NotServed"));
  driver.looked(false).created().granted();
  EXPECT_EQ(driver.hold()->grant.cost.queue_position, 0);
}

TEST(SimpleFlow, InEveryState_EveryEventLeavesNothingBehind) {
  std::size_t states = 0;
  for (const Patience patience : {Patience::queue, Patience::try_once})
    states += FlowExplorer<SimpleFlow>().explore(flow(patience));
  RecordProperty("states", static_cast<int>(states));
  EXPECT_GT(states, 30U);
}

}  // namespace
}  // namespace zkrecipes::detail
