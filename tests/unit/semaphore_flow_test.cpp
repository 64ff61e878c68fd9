// SPDX-License-Identifier: Apache-2.0
#include "recipes/semaphore_flow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>

#include "tests/unit/flow_driver.h"
#include "tests/unit/flow_explorer.h"

namespace zkrecipes::detail {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using Driver = FlowDriver<SemaphoreFlow>;

constexpr char kAhead[] = "_c_x-lock-0000000001";
constexpr char kTaken[] = "_c_x-lease-0000000001";
constexpr int kLookAgain = -1;

SemaphoreFlow flow(Patience patience, int permits = 1, int wanted = 1) {
  return SemaphoreFlow(std::make_shared<const SemaphoreSpec>("/sem", LockOptions{}, "me"), patience,
                       PermitDemand{wanted, permits});
}

TEST(SemaphoreFlow, TheLine_LooksAheadIfTheSemaphoreDoes) {
  for (const bool look_ahead : {false, true}) {
    LockOptions options;
    options.look_ahead = look_ahead;
    Driver driver(SemaphoreFlow(std::make_shared<const SemaphoreSpec>("/sem", options, "me"), Patience::queue, {}));
    driver.session_ready().created();
    driver.listed({"_c_x-lock-0000000000", kAhead, name_of(driver.line_node())});
    const std::string watched = look_ahead ? "_c_x-lock-0000000000" : kAhead;
    EXPECT_EQ(driver.last<action::WatchNode>().path, "/sem/locks/" + watched);
  }
}

/// Created the node in line and was the first there.
void reach_head(Driver& driver) {
  driver.created();
  driver.listed({name_of(driver.line_node())});
}

Driver at_head(int permits = 1, int wanted = 1) {
  Driver driver(flow(Patience::queue, permits, wanted));
  driver.session_ready();
  reach_head(driver);
  return driver;
}

/// At the head of the line with a lease, while all permits are taken.
Driver waiting_for_a_permit() {
  Driver driver = at_head();
  driver.created(Topic::leases);
  driver.listed({kTaken, name_of(driver.lease())}, Topic::leases);
  driver.children_watched({kTaken, name_of(driver.lease())});
  return driver;
}

/// At the head of the line with leases for two permits of two, while one of them is taken.
Driver waiting_for_two_permits() {
  Driver driver = at_head(2, 2);
  driver.created(Topic::leases).created(Topic::leases);
  driver.listed(driver.lease_names({kTaken}), Topic::leases).children_watched(driver.lease_names({kTaken}));
  return driver;
}

/// A try that has found a free permit, but others in line.
Driver try_in_busy_line(int permits = 2) {
  Driver driver(flow(Patience::try_once, permits));
  driver.session_ready().list_no_node(Topic::leases).listed({kAhead});
  EXPECT_THAT(driver.actions(), ElementsAre("AwaitSession"));
  driver.session_ready();
  EXPECT_THAT(driver.actions(), ElementsAre("WatchChildren"));
  return driver;
}

TEST(SemaphoreFlow, AFreePermit_TakesTwoRoundTrips) {
  Driver driver(flow(Patience::queue));
  EXPECT_THAT(driver.session_ready("g1").actions(), ElementsAre("Create", "List"));
  EXPECT_EQ(driver.last<action::Create>().spec.parent, "/sem/locks");
  reach_head(driver);
  EXPECT_THAT(driver.actions(), ElementsAre("Probe", "Create", "List"));
  EXPECT_EQ(driver.last<action::Create>().spec.parent, "/sem/leases");
  EXPECT_EQ(driver.last<action::Create>().spec.name, "_c_g1-lease-");
  EXPECT_THAT(driver.created(Topic::leases).actions(), IsEmpty());
  driver.listed({name_of(driver.lease())}, Topic::leases);
  EXPECT_THAT(driver.actions(), ElementsAre("MakeHold")) << "the place in line is kept until the outcome";
  EXPECT_THAT(driver.granted().actions(), ElementsAre("Unprobe", "Remove"));
  EXPECT_EQ(driver.last<action::Remove>().path, driver.line_node());
  EXPECT_EQ(driver.hold()->grant.node, "/sem/leases/_c_g1-lease-0000000005");
  EXPECT_EQ(driver.hold()->grant.kind, NodeKind::lease);
  EXPECT_EQ(driver.hold()->grant.token, (FencingToken{101, 0}));
  EXPECT_EQ(driver.hold()->grant.cost.queue_position, 0);
}

TEST(SemaphoreFlow, BehindOthers_WaitsInLineWithoutLookingAtTheLeases) {
  Driver driver(flow(Patience::queue));
  driver.session_ready().created();
  driver.listed({kAhead, name_of(driver.line_node())});
  EXPECT_THAT(driver.actions(), ElementsAre("WatchNode", "Probe", "Wait"));
  EXPECT_THAT(driver.watch_set().changed().actions(), ElementsAre("Create", "List")) << "the probe stays";
  driver.created(Topic::leases).listed({name_of(driver.lease())}, Topic::leases).granted();
  EXPECT_EQ(driver.hold()->grant.cost.queue_position, 1);
}

TEST(SemaphoreFlow, WithoutAPermit_TheHeadWatchesTheLeases) {
  Driver driver = at_head();
  driver.created(Topic::leases);
  driver.listed({kTaken, name_of(driver.lease())}, Topic::leases);
  EXPECT_THAT(driver.actions(), ElementsAre("WatchChildren", "Wait"));
  EXPECT_THAT(driver.children_watched({kTaken, name_of(driver.lease())}).actions(), IsEmpty());
  EXPECT_THAT(driver.changed(Topic::leases).actions(), ElementsAre("WatchChildren"));
  EXPECT_THAT(driver.children_watched({name_of(driver.lease())}).actions(), ElementsAre("MakeHold"));
  EXPECT_THAT(driver.granted().actions(), ElementsAre("Unwatch", "Unprobe", "Remove"));
}

TEST(SemaphoreFlow, AWaiterThatMovesToTheHead_HasNobodyAhead) {
  Driver driver(flow(Patience::queue));
  driver.session_ready().created();
  driver.listed({kAhead, name_of(driver.line_node())}).watch_set().changed();
  driver.created(Topic::leases).listed({kTaken, name_of(driver.lease())}, Topic::leases);
  EXPECT_THAT(driver.waits(), ElementsAre(1, 0));
}

TEST(SemaphoreFlow, AsManyLeasesAsPermits_IsAPermit) {
  Driver driver = at_head(2);
  driver.created(Topic::leases);
  driver.listed({kTaken, name_of(driver.lease())}, Topic::leases);
  EXPECT_THAT(driver.actions(), ElementsAre("MakeHold"));
}

TEST(SemaphoreFlow, LeasesThatWereCountedBeforeOursWasKnown_AreCountedAgain) {
  Driver driver = at_head();
  EXPECT_THAT(driver.listed({}, Topic::leases).actions(), IsEmpty());
  EXPECT_THAT(driver.created(Topic::leases).actions(), ElementsAre("List"));
}

TEST(SemaphoreFlow, ALeaseThatTheFirstListingLacks_IsLookedForWithAWatch) {
  Driver driver = at_head();
  driver.created(Topic::leases);
  EXPECT_THAT(driver.listed({}, Topic::leases).actions(), ElementsAre("WatchChildren"));
}

TEST(SemaphoreFlow, ALeaseThatSomebodyDeleted_RejoinsAtTheBack) {
  Driver driver = waiting_for_a_permit();
  driver.changed(Topic::leases).children_watched({kTaken});
  EXPECT_THAT(driver.actions(), ElementsAre("Unwatch", "Remove", "Unprobe", "Remove", "AwaitSession"));
  EXPECT_THAT(driver.session_ready().actions(), ElementsAre("Create", "List"));
}

TEST(SemaphoreFlow, APlaceInLineThatSomebodyDeleted_RejoinsAtTheBack) {
  Driver driver = waiting_for_a_permit();
  driver.own_node_gone();
  EXPECT_TRUE(driver.awaits_session()) << "else two contenders would be first, each with a lease, and block each other";
}

TEST(SemaphoreFlow, SessionExpiry_LosesPlaceAndLeaseAndRejoinsAtTheBack) {
  Driver driver = waiting_for_a_permit();
  EXPECT_THAT(driver.session_over().actions(), ElementsAre("Unwatch", "Unprobe", "AwaitSession"));
  driver.session_ready();
  EXPECT_EQ(driver.last<action::Create>().spec.parent, "/sem/locks");
  EXPECT_EQ(driver.last<action::Create>().spec.stale_guid, "guid1");
}

TEST(SemaphoreFlow, ALeaseOfTheSessionThatRanOutBeforeTheGrant_RejoinsAtTheBack) {
  Driver driver = waiting_for_a_permit();
  driver.changed(Topic::leases).children_watched({name_of(driver.lease())}).lease_over();
  EXPECT_THAT(driver.actions(), ElementsAre("Unwatch", "Remove", "Unprobe", "Remove", "AwaitSession"));
}

TEST(SemaphoreFlow, Leaving_GivesLeaseAndPlaceBack) {
  EXPECT_THAT(waiting_for_a_permit().left().actions(), ElementsAre("Unwatch", "Remove", "Unprobe", "Remove"));
}

TEST(SemaphoreFlow, ARefusal_NamesThePathThatIsMeant) {
  Driver line = at_head();
  EXPECT_EQ(line.refused(Status::not_authorized, Topic::line).failed()->path, "/sem/locks");
  Driver leases = waiting_for_a_permit();
  EXPECT_EQ(leases.refused(Status::not_authorized, Topic::leases).failed()->path, "/sem");
}

// ---- Beside other kinds of locks ----

TEST(SemaphoreFlow, MissingFolders_AreMadeOnlyIfNoOtherLockUsesThePath) {
  Driver driver(flow(Patience::queue));
  const CreateSpec place = driver.session_ready().last<action::Create>().spec;
  reach_head(driver);
  const CreateSpec lease = driver.last<action::Create>().spec;
  for (const CreateSpec& spec : {place, lease}) {
    EXPECT_EQ(spec.guarded, "/sem");
    EXPECT_THAT(spec.suspects({"foreign", kAhead}), ElementsAre(kAhead));
    EXPECT_THAT(spec.suspects({"locks", "_c_x-__READ__0000000001"}), ElementsAre("_c_x-__READ__0000000001"));
    EXPECT_THAT(spec.suspects({"foreign", "locks"}), IsEmpty());
    EXPECT_THAT(spec.suspects({"leases", kAhead}), IsEmpty()) << "it is a semaphore's path, and the other is refused";
  }
}

TEST(SemaphoreFlow, LeasesInAFolderWithoutTheMark_AreHeldAfterALookAtThePath) {
  Driver driver = at_head();
  driver.created(Topic::leases).listed({name_of(driver.lease())}, Topic::leases, 0);
  EXPECT_THAT(driver.actions(), ElementsAre("List"));
  EXPECT_EQ(driver.last<action::List>().path, "/sem");
  driver.listed({"locks", "leases", "foreign"}, Topic::path);
  EXPECT_THAT(driver.actions(), ElementsAre("Mark", "List"));
  EXPECT_EQ(driver.last<action::Mark>().path, "/sem/leases");
  driver.listed({name_of(driver.lease())}, Topic::leases, 0);
  EXPECT_THAT(driver.actions(), ElementsAre("MakeHold")) << "whether or not it may be marked";
}

// Somebody has deleted the lease of another semaphore, a mutex has come, and then that semaphore's mark has arrived.
TEST(SemaphoreFlow, AMarkThatNobodyHasConfirmed_ProvesNothing) {
  Driver driver = at_head();
  driver.created(Topic::leases).listed({name_of(driver.lease())}, Topic::leases, 1);
  EXPECT_THAT(driver.actions(), ElementsAre("List"));
  EXPECT_EQ(driver.last<action::List>().path, "/sem");
  driver.listed({"locks", "leases", kAhead}, Topic::path).looked(true);
  EXPECT_EQ(driver.failed()->status, Status::occupied);
}

TEST(SemaphoreFlow, AMarkThatIsSeenBesideOnesOwnLeases_IsConfirmed) {
  Driver driver = at_head();
  driver.created(Topic::leases).listed({name_of(driver.lease())}, Topic::leases, 0).listed({}, Topic::path);
  EXPECT_EQ(driver.last<action::Mark>().expected, 0);
  driver.listed({name_of(driver.lease())}, Topic::leases, 1);
  EXPECT_THAT(driver.actions(), ElementsAre("Mark", "MakeHold"));
  EXPECT_EQ(driver.last<action::Mark>().expected, 1);
}

TEST(SemaphoreFlow, AQueueOfAnotherLock_IsAnErrorAndNothingIsLeft) {
  Driver driver = at_head();
  driver.created(Topic::leases).listed({name_of(driver.lease())}, Topic::leases, 0);
  driver.listed({"locks", "leases", kAhead}, Topic::path).looked(true);
  EXPECT_THAT(driver.actions(), ElementsAre("Remove", "Unprobe", "Remove", "Fail"));
  EXPECT_EQ(driver.failed()->status, Status::occupied);
  EXPECT_EQ(driver.failed()->path, "/sem");
}

TEST(SemaphoreFlow, FoldersNamedLikeNodesOfAnotherLock_AreInNobodysWay) {
  Driver driver = at_head();
  driver.created(Topic::leases).listed({name_of(driver.lease())}, Topic::leases, 0);
  driver.listed({"jobs-lock-1700000000", "nightly-lock-1700000001"}, Topic::path);
  EXPECT_THAT(driver.actions(), ElementsAre("Look"));
  EXPECT_EQ(driver.last<action::Look>().path, "/sem/nightly-lock-1700000001");
  EXPECT_THAT(driver.looked(true, 0).actions(), ElementsAre("Look"));
  EXPECT_EQ(driver.last<action::Look>().path, "/sem/jobs-lock-1700000000");
  EXPECT_THAT(driver.looked(true, 0).actions(), ElementsAre("Mark", "List")) << "not ephemeral";
}

// A downgrade makes a read node before it removes the write node, and lists nothing afterwards.
TEST(SemaphoreFlow, ANodeOfAnotherLockThatLeaves_MayHaveBeenReplaced) {
  Driver driver = at_head();
  driver.created(Topic::leases).listed({name_of(driver.lease())}, Topic::leases, 0);
  driver.listed({"_c_x-__WRIT__0000000001"}, Topic::path);
  EXPECT_THAT(driver.looked(false).actions(), ElementsAre("List"));
  EXPECT_EQ(driver.last<action::List>().path, "/sem");
  driver.listed({"_c_y-__READ__0000000001"}, Topic::path).looked(true);
  EXPECT_TRUE(driver.failed());

  Driver lucky = at_head();
  lucky.created(Topic::leases).listed({name_of(lucky.lease())}, Topic::leases, 0);
  lucky.listed({kAhead}, Topic::path).looked(false);
  EXPECT_THAT(lucky.listed({}, Topic::path).actions(), ElementsAre("Mark", "List"));
}

TEST(SemaphoreFlow, AQueueOfAnotherLock_EndsOnlyTheFolderThatWasMadeBesideIt) {
  Driver driver = at_head(2, 2);
  driver.created(Topic::leases, 0, true).created(Topic::leases).listed(driver.lease_names(), Topic::leases, 0);
  driver.listed({"locks", "leases", kAhead}, Topic::path).looked(true);
  EXPECT_THAT(driver.actions(), ElementsAre("Remove", "Remove", "Remove", "Unprobe", "Remove", "Fail"));
  EXPECT_THAT(driver.removed(), ElementsAre(driver.leases()[0], driver.leases()[1], "/sem/leases", driver.line_node()));
}

TEST(SemaphoreFlow, AFolderOfAnEarlierAttempt_IsNotRemoved) {
  Driver driver = at_head();
  driver.created(Topic::leases, 0, true).session_over().session_ready();
  reach_head(driver);
  driver.created(Topic::leases).listed(driver.lease_names(), Topic::leases, 0);
  driver.listed({"locks", "leases", kAhead}, Topic::path).looked(true);
  EXPECT_THAT(driver.removed(), ElementsAre(driver.lease(), driver.line_node()));
}

TEST(SemaphoreFlow, FewerPermitsWhileItLooksAtThePath_AreRespected) {
  Driver driver = at_head(2);
  driver.created(Topic::leases).listed({kTaken, name_of(driver.lease())}, Topic::leases, 0);
  driver.permits_changed(1).listed({"locks", "leases"}, Topic::path);
  EXPECT_THAT(driver.listed({kTaken, name_of(driver.lease())}, Topic::leases).actions(),
              ElementsAre("WatchChildren", "Wait"));
}

TEST(SemaphoreFlow, LeasesThatChangeWhileItLooksAtThePath_AreNoSecondReasonToWait) {
  Driver driver = at_head();
  driver.created(Topic::leases).listed({kTaken, name_of(driver.lease())}, Topic::leases, 0);
  driver.children_watched({kTaken, name_of(driver.lease())}, Topic::leases, 0);
  driver.changed(Topic::leases).children_watched({name_of(driver.lease())}, Topic::leases, 0);
  EXPECT_THAT(driver.actions(), ElementsAre("List"));
  driver.changed(Topic::leases).listed({"locks", "leases"}, Topic::path);
  driver.listed({kTaken, name_of(driver.lease())}, Topic::leases, 0);
  EXPECT_THAT(driver.actions(), ElementsAre("WatchChildren"));
  EXPECT_THAT(driver.waits(), ElementsAre(0));
}

// ---- Tries ----

TEST(SemaphoreFlow, APlaceAheadThatMayNotBeRead_IsWaitedForByWatchingTheLine) {
  Driver driver(flow(Patience::queue));
  driver.session_ready().created();
  driver.listed({kAhead, name_of(driver.line_node())});
  EXPECT_THAT(driver.watch_refused().actions(), ElementsAre("Unwatch", "WatchChildren"));
  EXPECT_EQ(driver.last<action::WatchChildren>().path, "/sem/locks");
  driver.children_watched({name_of(driver.line_node())}, Topic::line);
  EXPECT_THAT(driver.actions(), ElementsAre("Unwatch", "Create", "List"));
}

TEST(SemaphoreFlow, TheAclOfTheLock_IsThatOfBothItsNodes) {
  LockOptions own;
  own.acl = Acl::creator_all();
  Driver driver(SemaphoreFlow(std::make_shared<const SemaphoreSpec>("/sem", own, "me"), Patience::queue, {1, 1}));
  EXPECT_TRUE(driver.session_ready().last<action::Create>().spec.acl);
  driver.created();
  EXPECT_TRUE(driver.listed({name_of(driver.line_node())}).last<action::Create>().spec.acl);
}

TEST(SemaphoreFlow, ATryWhileAllPermitsAreTaken_IsNotServed) {
  Driver driver(flow(Patience::try_once));
  EXPECT_THAT(driver.session_ready().actions(), ElementsAre("List"));
  EXPECT_THAT(driver.listed({kTaken}, Topic::leases).actions(), ElementsAre("NotServed"));
}

TEST(SemaphoreFlow, ATryWithAnEmptyLine_TakesItsPermit) {
  Driver driver(flow(Patience::try_once));
  driver.session_ready().listed({}, Topic::leases);
  EXPECT_THAT(driver.actions(), ElementsAre("List")) << "is there a line?";
  driver.listed({});
  reach_head(driver);
  driver.created(Topic::leases).listed({name_of(driver.lease())}, Topic::leases).granted();
}

TEST(SemaphoreFlow, ATryThatLosesTheLastPermitAtTheHead_IsNotServed) {
  Driver driver(flow(Patience::try_once));
  driver.session_ready().listed({}, Topic::leases).listed({});
  reach_head(driver);
  driver.created(Topic::leases).listed({kTaken, name_of(driver.lease())}, Topic::leases);
  EXPECT_THAT(driver.actions(), ElementsAre("Remove", "Unprobe", "Remove", "NotServed"));
}

TEST(SemaphoreFlow, ATryBehindOthers_JoinsThemAndTakesItsTurn) {
  Driver driver = try_in_busy_line();
  driver.children_watched({kTaken});
  EXPECT_THAT(driver.actions(), ElementsAre("Timer", "Create", "List"));
  driver.created().listed({kAhead, name_of(driver.line_node())}).watch_set();
  EXPECT_THAT(driver.changed().actions(), ElementsAre("Unwatch", "Create", "List"))
      << "the head counts; it need not watch from the line";
  driver.created(Topic::leases).listed({kTaken, name_of(driver.lease())}, Topic::leases).granted();
  EXPECT_EQ(driver.hold()->grant.cost.queue_position, 1);
}

TEST(SemaphoreFlow, ATryThatWasOvertakenOnJoining_StandsInLineFromThenOn) {
  Driver driver(flow(Patience::try_once, 2));
  driver.session_ready().listed({}, Topic::leases).listed({}).created();
  driver.listed({kAhead, name_of(driver.line_node())});
  EXPECT_THAT(driver.actions(), ElementsAre("Remove", "AwaitSession"));
  EXPECT_THAT(driver.session_ready().actions(), ElementsAre("WatchChildren"));
}

TEST(SemaphoreFlow, ATryInABusyLine_EndsWhenTheLastPermitGoesToSomebodyAhead) {
  Driver driver = try_in_busy_line();
  driver.children_watched({kTaken}).created().listed({kAhead, name_of(driver.line_node())}).watch_set();
  driver.changed(Topic::leases).children_watched({kTaken, "_c_y-lease-0000000002"});
  EXPECT_TRUE(driver.not_served());
}

TEST(SemaphoreFlow, ATryInALineThatDoesNotMove_GivesUp) {
  Driver driver = try_in_busy_line(3);
  driver.children_watched({kTaken}).created().listed({kAhead, name_of(driver.line_node())}).watch_set();
  driver.changed(Topic::leases).children_watched({kTaken, "_c_y-lease-0000000002"});
  EXPECT_THAT(driver.timers(), ElementsAre(1, 2));
  EXPECT_THAT(driver.timer(1).actions(), IsEmpty()) << "the line has moved since";
  EXPECT_FALSE(driver.not_served());
  driver.timer(2);
  EXPECT_TRUE(driver.not_served());
}

TEST(SemaphoreFlow, ATryInABusyLine_LooksAgainForLeasesThatAreMissing) {
  Driver driver = try_in_busy_line();
  driver.children_watch_no_node();
  EXPECT_THAT(driver.actions(), ElementsAre("Timer", "Timer", "Create", "List")) << "it joins all the same";
  EXPECT_THAT(driver.timers(), ElementsAre(kLookAgain, 0));
  EXPECT_THAT(driver.timer(kLookAgain).actions(), ElementsAre("WatchChildren"));
  EXPECT_THAT(driver.children_watch_no_node().actions(), ElementsAre("Timer"));
  driver.timer(0);
  EXPECT_TRUE(driver.not_served());
}

TEST(SemaphoreFlow, ATryWhosePlaceInABusyLineIsDeleted_StandsThereAgain) {
  Driver driver = try_in_busy_line();
  driver.children_watched({kTaken}).created().listed({kAhead, name_of(driver.line_node())}).watch_set();
  EXPECT_THAT(driver.own_node_gone().actions(), ElementsAre("Unwatch", "Unwatch", "Unprobe", "Remove", "AwaitSession"));
  EXPECT_THAT(driver.session_ready().actions(), ElementsAre("WatchChildren"));
}

TEST(SemaphoreFlow, ATryWhoseSessionIsOver_IsNotServed) {
  Driver driver = try_in_busy_line();
  driver.children_watched({kTaken}).session_over();
  EXPECT_TRUE(driver.not_served());
}

// ---- Several permits at once ----

TEST(SemaphoreFlow, SeveralPermits_TakeTwoRoundTripsLikeOne) {
  constexpr char kGuid[] = "11111111-2222-4333-8444-55555555555e";
  Driver driver(flow(Patience::queue, 3, 3));
  driver.session_ready(kGuid);
  reach_head(driver);
  EXPECT_THAT(driver.actions(), ElementsAre("Probe", "Create", "Create", "Create", "List"));
  driver.created(Topic::leases).created(Topic::leases).created(Topic::leases);
  EXPECT_THAT(driver.actions(), IsEmpty());
  EXPECT_THAT(driver.listed(driver.lease_names(), Topic::leases).actions(), ElementsAre("MakeHold"));
  EXPECT_THAT(driver.granted().actions(), ElementsAre("Unprobe", "Remove"));
  const Grant& grant = driver.hold()->grant;
  EXPECT_EQ(grant.node, "/sem/leases/_c_11111111-2222-4333-8444-55555555555e-lease-0000000005");
  EXPECT_THAT(grant.more_nodes,
              UnorderedElementsAre("/sem/leases/_c_11111111-2222-4333-8444-55555555555f-lease-0000000005",
                                   "/sem/leases/_c_11111111-2222-4333-8444-555555555560-lease-0000000005"));
}

TEST(SemaphoreFlow, TheTokenOfSeveralPermits_IsThatOfTheOldestLease) {
  Driver driver = at_head(2, 2);
  // The first create was lost on the way, and repeated.
  driver.created(Topic::leases, 300).created(Topic::leases, 200).listed(driver.lease_names(), Topic::leases).granted();
  EXPECT_EQ(driver.hold()->grant.token, (FencingToken{200, 0}));
  EXPECT_EQ(driver.hold()->grant.node, driver.leases().at(1));
  EXPECT_THAT(driver.hold()->grant.more_nodes, ElementsAre(driver.leases().at(0)));
}

TEST(SemaphoreFlow, WithoutAllPermits_TheHeadKeepsItsPlaceAndItsLeases) {
  Driver driver = waiting_for_two_permits();
  EXPECT_THAT(driver.actions(), IsEmpty());
  driver.changed(Topic::leases).children_watched(driver.lease_names());
  EXPECT_THAT(driver.actions(), ElementsAre("MakeHold"));
}

TEST(SemaphoreFlow, LeasesThatWereCountedBeforeAllOfOursWereKnown_AreCountedAgain) {
  Driver driver = at_head(2, 2);
  driver.created(Topic::leases);
  EXPECT_THAT(driver.listed(driver.lease_names(), Topic::leases).actions(), IsEmpty());
  EXPECT_THAT(driver.created(Topic::leases).actions(), ElementsAre("List"));
}

TEST(SemaphoreFlow, OneOfSeveralLeasesThatSomebodyDeleted_GivesTheOthersBackAndRejoins) {
  Driver driver = waiting_for_two_permits();
  driver.changed(Topic::leases).children_watched({name_of(driver.lease())});
  EXPECT_THAT(driver.actions(), ElementsAre("Unwatch", "Remove", "Remove", "Unprobe", "Remove", "AwaitSession"));
}

TEST(SemaphoreFlow, LeavingBetweenTwoLeases_GivesTheFirstBack) {
  Driver driver = at_head(2, 2);
  driver.created(Topic::leases).left();
  EXPECT_THAT(driver.actions(), ElementsAre("Remove", "Unprobe", "Remove"));
}

TEST(SemaphoreFlow, OnlyTheFirstLease_MayMakeTheFolder) {
  Driver driver = at_head(3, 3);
  EXPECT_FALSE(driver.last<action::Create>().spec.needs_parent);
  EXPECT_THAT(driver.no_parent().actions(), IsEmpty());
  driver.no_parent();
  EXPECT_FALSE(driver.awaits_create_that_needs_parent()) << "they wait for the first one";
  driver.list_no_node(Topic::leases);
  driver.created(Topic::leases, 0, true);
  EXPECT_THAT(driver.actions(), ElementsAre("Create", "Create", "List"));
  driver.created(Topic::leases).created(Topic::leases).listed(driver.lease_names(), Topic::leases, 0);
  driver.listed({"locks", "leases"}, Topic::path).listed(driver.lease_names(), Topic::leases).granted();
  EXPECT_EQ(driver.hold()->grant.more_nodes.size(), 2U);
}

TEST(SemaphoreFlow, LeasesThatFoundTheFolderWhichSomebodyMade_AreNotCreatedAgain) {
  Driver driver = at_head(3, 3);
  driver.no_parent().created(Topic::leases);
  EXPECT_THAT(driver.created(Topic::leases).actions(), ElementsAre("Create"));
  EXPECT_EQ(driver.last<action::Create>().spec.needs_parent, true);
}

// Another lock came between the looks at the path: none of the others may make the folder behind the refusal.
TEST(SemaphoreFlow, AFirstLeaseThatIsRefused_EndsTheOthersThatLackTheFolder) {
  Driver driver = at_head(2, 2);
  driver.no_parent().occupied("/sem/x-lock-0000000001");
  EXPECT_THAT(driver.actions(), ElementsAre("Unprobe", "Remove", "Fail"));
  EXPECT_EQ(driver.failed()->status, Status::occupied);
  Driver early = at_head(2, 2);
  EXPECT_TRUE(early.occupied("/sem/x-lock-0000000001").failed()) << "the other's answer is on its way";
}

TEST(SemaphoreFlow, AFolderThatVanishesWithTheFirstLease_RejoinsAtTheBack) {
  Driver driver = at_head(2, 2);
  driver.no_parent().created(Topic::leases, 0, true);
  EXPECT_THAT(driver.no_parent().actions(), ElementsAre("Remove", "Unprobe", "Remove", "AwaitSession"));
}

TEST(SemaphoreFlow, ATryForMoreThanIsFree_IsNotServed) {
  Driver driver(flow(Patience::try_once, 3, 2));
  driver.session_ready().listed({kTaken, "_c_y-lease-0000000002"}, Topic::leases);
  EXPECT_TRUE(driver.not_served());
}

// ---- Another number of permits ----

TEST(SemaphoreFlow, MorePermits_GrantTheHeadWithoutAnEventOfTheServer) {
  Driver driver = waiting_for_a_permit();
  EXPECT_THAT(driver.permits_changed(2).actions(), ElementsAre("List"));
  driver.listed(driver.lease_names({kTaken}), Topic::leases);
  EXPECT_THAT(driver.actions(), ElementsAre("MakeHold"));
  EXPECT_THAT(driver.granted().actions(), ElementsAre("Unwatch", "Unprobe", "Remove"));
}

TEST(SemaphoreFlow, MorePermitsThatAreStillTooFew_LeaveTheHeadWatching) {
  Driver driver = waiting_for_two_permits();
  driver.permits_changed(2).listed(driver.lease_names({kTaken}), Topic::leases);
  EXPECT_THAT(driver.actions(), IsEmpty()) << "the watch is still set";
}

TEST(SemaphoreFlow, TwoChangesInARow_CountOnce) {
  Driver driver = waiting_for_a_permit();
  driver.permits_changed(2);
  EXPECT_THAT(driver.permits_changed(3).actions(), IsEmpty());
}

TEST(SemaphoreFlow, FewerPermits_KeepTheHeadWaiting) {
  Driver driver = at_head(2);
  driver.created(Topic::leases).permits_changed(1);
  driver.listed(driver.lease_names({kTaken}), Topic::leases);
  EXPECT_THAT(driver.actions(), ElementsAre("WatchChildren", "Wait"));
}

TEST(SemaphoreFlow, FewerPermits_DoNotTakeBackAGrantThatIsDecided) {
  Driver driver = at_head(2, 2);
  driver.created(Topic::leases).created(Topic::leases).listed(driver.lease_names(), Topic::leases).permits_changed(1);
  EXPECT_THAT(driver.actions(), IsEmpty());
  driver.granted();
}

TEST(SemaphoreFlow, AGrantThatFailsWithFewerPermitsThanItWants_EndsTheWait) {
  Driver driver = at_head(2, 2);
  driver.created(Topic::leases).created(Topic::leases).listed(driver.lease_names(), Topic::leases).permits_changed(1);
  EXPECT_TRUE(driver.lease_over().failed());
}

TEST(SemaphoreFlow, FewerPermitsThanAWaiterWants_EndItsWaitInEveryState) {
  Driver new_one(flow(Patience::queue, 2, 2));
  EXPECT_TRUE(new_one.permits_changed(1).failed()) << "without a session";
  Driver in_line(flow(Patience::queue, 2, 2));
  in_line.session_ready().created().listed({kAhead, name_of(in_line.line_node())}).watch_set();
  EXPECT_TRUE(in_line.permits_changed(1).failed());
  EXPECT_THAT(in_line.actions(), ElementsAre("Unwatch", "Unprobe", "Remove", "Fail"));
  Driver head = waiting_for_two_permits();
  EXPECT_TRUE(head.permits_changed(1).failed());
  EXPECT_THAT(head.actions(), ElementsAre("Unwatch", "Remove", "Remove", "Unprobe", "Remove", "Fail"));
  EXPECT_TRUE(head.failed()->error);
}

std::vector<int> changes(bool any) {
  return any ? std::vector<int>{1, 2} : std::vector<int>{};
}

TEST(SemaphoreFlow, InEveryState_EveryEventLeavesNothingBehind) {
  std::size_t states = 0;
  for (const int permits : {1, 2})
    for (int wanted = 1; wanted <= permits; ++wanted)
      for (const Patience patience : {Patience::queue, Patience::try_once})
        states += FlowExplorer<SemaphoreFlow>(changes(wanted == permits)).explore(flow(patience, permits, wanted));
  RecordProperty("states", static_cast<int>(states));
  EXPECT_GT(states, 1000U);
}

}  // namespace
}  // namespace zkrecipes::detail
