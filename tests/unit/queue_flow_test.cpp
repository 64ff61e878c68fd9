// SPDX-License-Identifier: Apache-2.0
#include "recipes/queue_flow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>

#include "tests/unit/flow_driver.h"
#include "tests/unit/flow_explorer.h"
#include "zkrecipes/error.h"

namespace zkrecipes::detail {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Driver = FlowDriver<QueueFlow>;

constexpr char kLease[] = "_c_x-lease-0000000001";
constexpr char kAhead[] = "_c_x-lock-0000000001";
constexpr char kFurtherAhead[] = "_c_x-lock-0000000000";

QueueSpec spec(NodeKind kind = NodeKind::lock, bool version_token = false, NodeRole role = NodeRole::holds) {
  QueueSpec result;
  result.path = "/lock";
  result.kind = kind;
  result.options.version_token = version_token;
  result.identity = "me";
  result.role = role;
  return result;
}

Driver drive(const QueueSpec& what = spec(), Patience patience = Patience::queue) {
  return Driver(QueueFlow(std::make_shared<const QueueSpec>(what), patience));
}

std::string mine(const Driver& driver) {
  return std::string(name_of(driver.line_node()));
}

/// Second in line, watching the node of the holder.
Driver second_in_line(const QueueSpec& what = spec()) {
  Driver driver = drive(what);
  driver.session_ready().created();
  driver.listed({kAhead, mine(driver)}).watch_set();
  return driver;
}

TEST(QueueFlow, AFreeLock_TakesOneCreateAndOneListingSentTogether) {
  Driver driver = drive();
  driver.session_ready("g1");
  EXPECT_THAT(driver.actions(), ElementsAre("Create", "List"));
  const CreateSpec& create = driver.last<action::Create>().spec;
  EXPECT_EQ(create.parent, "/lock");
  EXPECT_EQ(create.name, "_c_g1-lock-");
  EXPECT_EQ(create.data, "me");
  EXPECT_EQ(create.stale_guid, "");
  EXPECT_EQ(create.parent_mode, CreateMode::container);
  EXPECT_THAT(driver.created().actions(), IsEmpty());
  EXPECT_THAT(driver.listed({mine(driver)}).actions(), ElementsAre("MakeHold"));
  EXPECT_THAT(driver.granted().actions(), IsEmpty());
  EXPECT_EQ(driver.hold()->grant.node, "/lock/_c_g1-lock-0000000005");
  EXPECT_EQ(driver.hold()->grant.token, (FencingToken{101, 0}));
  EXPECT_EQ(driver.hold()->grant.cost.queue_position, 0);
  EXPECT_FALSE(driver.hold()->check_node);
  EXPECT_TRUE(driver.hold()->alone);
}

TEST(QueueFlow, AGrantTellsWhetherAnybodyElseWantsTheLock) {
  Driver driver = drive();
  driver.session_ready().created();
  driver.listed({mine(driver), "_c_x-lock-0000000009"});
  EXPECT_FALSE(driver.last<action::MakeHold>().alone);
  Driver second = second_in_line();
  second.changed();
  EXPECT_FALSE(second.last<action::MakeHold>().alone) << "nobody has looked who stands behind";
}

TEST(QueueFlow, ASemaphoreAtThePath_IsAnErrorAndNoNodeIsLeft) {
  for (const NodeKind kind : {NodeKind::lock, NodeKind::read, NodeKind::write}) {
    Driver driver = drive(spec(kind));
    driver.session_ready().created().listed({"locks", "leases", mine(driver)});
    EXPECT_THAT(driver.actions(), ElementsAre("List"));
    EXPECT_EQ(driver.last<action::List>().path, "/lock/leases");
    EXPECT_THAT(driver.listed({kLease}, Topic::leases, 0).actions(), ElementsAre("Remove", "Fail"));
    EXPECT_TRUE(driver.failed()->error);
  }
  Driver attempt = drive(spec(), Patience::try_once);
  attempt.session_ready().listed({"leases"});
  EXPECT_THAT(attempt.listed({kLease}, Topic::leases, 0).actions(), ElementsAre("Fail"));
}

TEST(QueueFlow, AnEmptyFolderOfLeasesWithoutAMark_IsInNobodysWay) {
  Driver driver = drive();
  driver.session_ready().created().listed({"locks", "leases", mine(driver)});
  EXPECT_THAT(driver.listed({}, Topic::leases, 0).actions(), ElementsAre("List"));
  EXPECT_THAT(driver.listed({"locks", "leases", mine(driver)}).actions(), ElementsAre("MakeHold"));
}

TEST(QueueFlow, AFolderOfLeasesThatMayNotBeListed_IsTakenForASemaphores) {
  Driver driver = drive();
  driver.session_ready().created().listed({"leases", mine(driver)}).refused(Status::not_authorized, Topic::leases);
  EXPECT_THAT(driver.actions(), ElementsAre("Remove", "Fail"));
  EXPECT_TRUE(driver.failed()->error);
}

TEST(QueueFlow, AForeignFolderWithTheNameOfTheLeases_IsLookedAtOnce) {
  Driver driver = drive();
  driver.session_ready().created().listed({"leases", mine(driver)});
  EXPECT_THAT(driver.listed({"10.0.0.7"}, Topic::leases, 0).actions(), ElementsAre("List"));
  driver.listed({"leases", kAhead, mine(driver)});
  EXPECT_THAT(driver.actions(), ElementsAre("WatchNode", "Probe", "Wait"));
  driver.watch_set().changed(Topic::line, WatchEvent::changed).listed({"leases", mine(driver)});
  EXPECT_THAT(driver.actions(), ElementsAre("MakeHold"));
}

TEST(QueueFlow, AForeignFolderThatATryHasSeen_IsLookedAtAgainBehindItsNode) {
  Driver driver = drive(spec(), Patience::try_once);
  driver.session_ready().listed({"leases"}).listed({"10.0.0.7"}, Topic::leases, 0);
  EXPECT_THAT(driver.listed({"leases"}).actions(), ElementsAre("Create", "List"));
  driver.created().listed({"leases", mine(driver)});
  EXPECT_THAT(driver.actions(), ElementsAre("List")) << "a semaphore may have come without seeing us";
  driver.listed({"10.0.0.7"}, Topic::leases, 0).listed({"leases", mine(driver)});
  EXPECT_THAT(driver.actions(), ElementsAre("MakeHold"));
}

TEST(QueueFlow, ASemaphoreThatComesLater_IsAnErrorForAWaiter) {
  Driver driver = second_in_line();
  driver.changed(Topic::line, WatchEvent::changed).listed({"leases", kAhead, mine(driver)});
  driver.listed({kLease}, Topic::leases);
  EXPECT_THAT(driver.actions(), ElementsAre("Unprobe", "Remove", "Fail"));
}

TEST(QueueFlow, TheLineOfASemaphore_MayHaveAnyFolderInIt) {
  Driver driver = drive(spec(NodeKind::lock, false, NodeRole::waits));
  driver.session_ready().created().listed({"leases", mine(driver)});
  EXPECT_THAT(driver.actions(), ElementsAre("Probe")) << "only its path is of interest, and that is not this one";
}

TEST(QueueFlow, AWaiter_WatchesItsPredecessorOnly) {
  Driver driver = drive();
  driver.session_ready().created();
  driver.listed({kFurtherAhead, mine(driver), kAhead});
  EXPECT_THAT(driver.actions(), ElementsAre("WatchNode", "Probe", "Wait"));
  EXPECT_EQ(driver.last<action::WatchNode>().path, std::string("/lock/") + kAhead);
  EXPECT_THAT(driver.watch_set().actions(), IsEmpty());
}

TEST(QueueFlow, DeletionOfTheOnlyPredecessor_IsTheTurnWithoutAnotherRead) {
  Driver driver = second_in_line();
  EXPECT_THAT(driver.changed().actions(), ElementsAre("MakeHold"));
  EXPECT_TRUE(driver.last<action::MakeHold>().check_node) << "the listing is old by now";
  EXPECT_THAT(driver.granted().actions(), ElementsAre("Unprobe"));
  EXPECT_EQ(driver.hold()->grant.cost.queue_position, 1);
}

TEST(QueueFlow, DeletionOfOneOfTwoPredecessors_IsFollowedByAListing) {
  Driver driver = drive();
  driver.session_ready().created();
  driver.listed({kFurtherAhead, kAhead, mine(driver)}).watch_set();
  EXPECT_THAT(driver.changed().actions(), ElementsAre("List"));
  driver.listed({kFurtherAhead, mine(driver)});
  EXPECT_THAT(driver.actions(), ElementsAre("WatchNode")) << "the probe stays";
  driver.watch_set().changed().granted();
  EXPECT_EQ(driver.hold()->grant.cost.queue_position, 2) << "on joining";
}

TEST(QueueFlow, AChangeOfThePredecessor_IsNotItsDeletion) {
  Driver driver = second_in_line();
  EXPECT_THAT(driver.changed(Topic::line, WatchEvent::changed).actions(), ElementsAre("List"));
}

TEST(QueueFlow, APredecessorThatWentBeforeItWasWatched_IsAsGoodAsItsDeletion) {
  Driver driver = drive();
  driver.session_ready().created();
  driver.listed({kAhead, mine(driver)});
  EXPECT_THAT(driver.watch_set(Status::no_node).actions(), ElementsAre("MakeHold"));
  EXPECT_FALSE(driver.last<action::MakeHold>().check_node) << "the listing is fresh";
  EXPECT_THAT(driver.granted().actions(), ElementsAre("Unprobe")) << "there is no watch to take back";
}

TEST(QueueFlow, BehindAWriteNode_DeletionProvesNothing) {
  Driver driver = drive(spec(NodeKind::write));
  driver.session_ready().created();
  driver.listed({"_c_x-__WRIT__0000000001", mine(driver)}).watch_set();
  EXPECT_THAT(driver.changed().actions(), ElementsAre("List"));
}

TEST(QueueFlow, AWriterBehindTheLastReader_HasItsTurnWithoutAnotherRead) {
  Driver driver = drive(spec(NodeKind::write));
  driver.session_ready().created();
  driver.listed({"_c_x-__READ__0000000001", mine(driver)}).watch_set();
  EXPECT_THAT(driver.changed().actions(), ElementsAre("MakeHold"));
}

// ---- Look-ahead ----

QueueSpec look_ahead(NodeKind kind = NodeKind::lock) {
  QueueSpec result = spec(kind);
  result.options.look_ahead = true;
  return result;
}

/// Third in line, watching the node before its predecessor.
Driver third_in_line(const QueueSpec& what = look_ahead()) {
  Driver driver = drive(what);
  driver.session_ready().created();
  driver.listed({kFurtherAhead, kAhead, mine(driver)});
  EXPECT_EQ(driver.last<action::WatchNode>().path, std::string("/lock/") + kFurtherAhead);
  driver.watch_set();
  return driver;
}

/// The node before its predecessor has left.
Driver moving_up(const QueueSpec& what = look_ahead()) {
  Driver driver = third_in_line(what);
  EXPECT_THAT(driver.changed().actions(), ElementsAre("List", "WatchNode")) << "in one packet";
  EXPECT_EQ(driver.last<action::WatchNode>().path, std::string("/lock/") + kAhead);
  return driver;
}

TEST(QueueFlow, LookAhead_IsGrantedByTheDeletionWithoutAskingAgain) {
  Driver driver = moving_up();
  EXPECT_THAT(driver.listed({kAhead, mine(driver)}).actions(), IsEmpty());
  EXPECT_THAT(driver.watch_set().actions(), IsEmpty());
  EXPECT_THAT(driver.changed().actions(), ElementsAre("MakeHold"));
  driver.granted();
}

TEST(QueueFlow, LookAhead_APredecessorThatLeavesWhileWeMoveUp_IsTheTurnInAnyOrderOfTheNews) {
  Driver driver = moving_up();
  Driver listing_first = driver;
  listing_first.listed({kAhead, mine(driver)});
  EXPECT_THAT(listing_first.watch_set(Status::no_node).actions(), ElementsAre("MakeHold"));
  Driver watch_first = driver;
  EXPECT_THAT(watch_first.watch_set(Status::no_node).actions(), IsEmpty());
  EXPECT_THAT(watch_first.listed({kAhead, mine(driver)}).actions(), ElementsAre("MakeHold"));
  Driver event_first = driver;
  EXPECT_THAT(event_first.watch_set().changed().actions(), IsEmpty());
  EXPECT_THAT(event_first.listed({mine(driver)}).actions(), ElementsAre("MakeHold"));
  event_first.granted();
}

TEST(QueueFlow, LookAhead_AContenderThatGivesUp_DoesNotMakeThePredecessorTheOnlyOneAhead) {
  Driver driver = moving_up();
  driver.listed({"_c_y-lock-0000000000", kAhead, mine(driver)});
  EXPECT_THAT(driver.actions(), ElementsAre("Unwatch", "WatchNode"));
  EXPECT_EQ(driver.last<action::WatchNode>().path, "/lock/_c_y-lock-0000000000");
}

TEST(QueueFlow, LookAhead_APredecessorThatGaveUpEarlier_IsNoticedWhenTheOneBeforeItLeaves) {
  Driver driver = moving_up();
  Driver first = driver;
  EXPECT_THAT(first.listed({mine(driver)}).actions(), ElementsAre("Unwatch", "MakeHold"));
  driver.watch_set(Status::no_node);
  driver.listed({"_c_y-lock-0000000000", mine(driver)});
  EXPECT_THAT(driver.actions(), ElementsAre("WatchNode"));
  EXPECT_EQ(driver.last<action::WatchNode>().path, "/lock/_c_y-lock-0000000000") << "it alone is ahead";
  EXPECT_THAT(driver.watch_set().changed().actions(), ElementsAre("MakeHold"));
}

TEST(QueueFlow, LookAhead_AChangeOfAWatchedNode_IsNotItsDeletion) {
  Driver third = third_in_line();
  EXPECT_THAT(third.changed(Topic::line, WatchEvent::changed).actions(), ElementsAre("List"));
  Driver driver = moving_up();
  driver.watch_set().changed(Topic::line, WatchEvent::changed);
  EXPECT_THAT(driver.listed({kAhead, mine(driver)}).actions(), ElementsAre("WatchNode"));
}

TEST(QueueFlow, LookAhead_ANodeThatMayNotBeRead_IsReplacedByTheWholeQueue) {
  Driver driver = moving_up();
  EXPECT_THAT(driver.watch_refused().actions(), ElementsAre("Unwatch", "WatchChildren"));
  EXPECT_THAT(driver.listed({kAhead, mine(driver)}).actions(), IsEmpty()) << "has no watch";
  EXPECT_THAT(driver.children_watched({mine(driver)}, Topic::line).actions(), ElementsAre("Unwatch", "MakeHold"));
}

TEST(QueueFlow, LookAhead_IsOfNoUseBehindAWriterAndWhereHoldsAreCounted) {
  Driver writer = drive(look_ahead(NodeKind::write));
  writer.session_ready().created();
  writer.listed({"_c_x-__READ__0000000000", "_c_x-__WRIT__0000000001", mine(writer)});
  EXPECT_EQ(writer.last<action::WatchNode>().path, "/lock/_c_x-__WRIT__0000000001");
  QueueSpec counted = look_ahead();
  counted.options.version_token = true;
  Driver counting = drive(counted);
  counting.session_ready().created();
  counting.listed({kFurtherAhead, kAhead, mine(counting)});
  EXPECT_EQ(counting.last<action::WatchNode>().path, std::string("/lock/") + kAhead);
}

TEST(QueueFlow, AReader_OvertakesReadersAheadButNoWriter) {
  Driver driver = drive(spec(NodeKind::read));
  driver.session_ready().created();
  Driver blocked = driver;
  EXPECT_THAT(driver.listed({"_c_x-__READ__0000000001", mine(driver)}).actions(), ElementsAre("MakeHold"));
  EXPECT_THAT(blocked.listed({"_c_x-__WRIT__0000000001", mine(blocked)}).actions(),
              ElementsAre("WatchNode", "Probe", "Wait"));
}

TEST(QueueFlow, AListingFromBeforeTheNode_IsRepeated) {
  Driver driver = drive();
  driver.session_ready();
  EXPECT_THAT(driver.listed({}).actions(), IsEmpty()) << "the create is not answered yet";
  EXPECT_THAT(driver.created().actions(), ElementsAre("List"));
  EXPECT_THAT(driver.listed({mine(driver)}).actions(), ElementsAre("MakeHold"));
}

TEST(QueueFlow, AListingThatOvertookTheAnswerToTheCreate_StillCounts) {
  Driver driver = drive();
  driver.session_ready("g1");
  driver.listed({kAhead, "_c_g1-lock-0000000005"});
  EXPECT_THAT(driver.created().actions(), ElementsAre("WatchNode", "Probe", "Wait"));
}

TEST(QueueFlow, ACreateThatWasAppliedTwice_IsRemovedOnce) {
  Driver driver = drive();
  driver.session_ready("g1").created();
  driver.listed({mine(driver), "_c_g1-lock-0000000006"});
  EXPECT_THAT(driver.actions(), ElementsAre("Remove", "MakeHold"));
  EXPECT_EQ(driver.last<action::Remove>().path, "/lock/_c_g1-lock-0000000006");
}

TEST(QueueFlow, SessionExpiry_RejoinsAtTheBack) {
  Driver driver = second_in_line();
  EXPECT_THAT(driver.session_over().actions(), ElementsAre("Unwatch", "Unprobe", "AwaitSession"));
  driver.session_ready();
  EXPECT_EQ(driver.last<action::Create>().spec.name, "_c_guid2-lock-");
  EXPECT_EQ(driver.last<action::Create>().spec.stale_guid, "guid1") << "what the old session left is removed first";
  driver.created();
  driver.listed({mine(driver)}).granted();
  EXPECT_EQ(driver.hold()->grant.cost.queue_position, 1) << "of the first time";
}

TEST(QueueFlow, SessionExpiryBeforeTheCreateIsAnswered_AlsoLeavesAGuidToLookFor) {
  Driver driver = drive();
  driver.session_ready().session_over();
  EXPECT_THAT(driver.actions(), ElementsAre("AwaitSession"));
  driver.session_ready();
  EXPECT_EQ(driver.last<action::Create>().spec.stale_guid, "guid1");
}

TEST(QueueFlow, ANodeThatSomebodyDeleted_RejoinsAtTheBack) {
  Driver driver = second_in_line();
  EXPECT_THAT(driver.own_node_gone().actions(), ElementsAre("Unwatch", "Unprobe", "Remove", "AwaitSession"));
  driver.session_ready();
  EXPECT_EQ(driver.last<action::Create>().spec.stale_guid, "") << "it was removed in its own session";
}

TEST(QueueFlow, ANodeThatTheListingLacks_RejoinsAtTheBack) {
  Driver driver = second_in_line();
  driver.changed(Topic::line, WatchEvent::changed).listed({kAhead});
  EXPECT_TRUE(driver.awaits_session());
}

TEST(QueueFlow, APathThatIsGone_IsJoinedAgain) {
  Driver driver = second_in_line();
  driver.changed(Topic::line, WatchEvent::changed).list_no_node();
  EXPECT_TRUE(driver.awaits_session());
}

TEST(QueueFlow, ALeaseThatRanOutBeforeTheGrant_RejoinsAtTheBack) {
  Driver driver = second_in_line();
  EXPECT_THAT(driver.changed().lease_over().actions(), ElementsAre("Unprobe", "Remove", "AwaitSession"));
}

TEST(QueueFlow, ANodeThatTheProofDoesNotFind_RejoinsAtTheBack) {
  Driver driver = second_in_line();
  driver.changed().hold_node_gone();
  EXPECT_TRUE(driver.awaits_session());
}

TEST(QueueFlow, Overflow_IsAnErrorAndNoGrant) {
  Driver driver = drive();
  driver.session_ready().created();
  driver.listed({mine(driver), "_c_x-lock--2147483648"});
  EXPECT_THAT(driver.actions(), ElementsAre("Remove", "Fail"));
  ASSERT_TRUE(driver.failed());
  try {
    std::rethrow_exception(driver.failed()->error);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::sequence_exhausted);
  }
}

TEST(QueueFlow, ARefusal_EndsItWithItsReason) {
  Driver driver = second_in_line();
  EXPECT_THAT(driver.refused(Status::too_many_watches).actions(), ElementsAre("Unwatch", "Unprobe", "Remove", "Fail"));
  EXPECT_EQ(driver.failed()->status, Status::too_many_watches);
  EXPECT_EQ(driver.failed()->path, "/lock");
}

TEST(QueueFlow, TheEndOfTheConnectionWhileThereIsNoSession_EndsIt) {
  Driver driver = drive();
  EXPECT_THAT(driver.refused(Status::closed).actions(), ElementsAre("Fail"));
}

TEST(QueueFlow, LeavingTheQueue_TakesEverythingBack) {
  EXPECT_THAT(second_in_line().left().actions(), ElementsAre("Unwatch", "Unprobe", "Remove"));
  EXPECT_THAT(second_in_line().changed().left().actions(), ElementsAre("Unprobe", "Remove")) << "before the grant";
  EXPECT_THAT(drive().left().actions(), IsEmpty());
}

// ---- Behind a node that may not be read ----

TEST(QueueFlow, APredecessorThatMayNotBeRead_IsWaitedForByWatchingTheQueue) {
  Driver driver = drive();
  driver.session_ready().created();
  driver.listed({kFurtherAhead, kAhead, mine(driver)});
  EXPECT_THAT(driver.watch_refused().actions(), ElementsAre("Unwatch", "WatchChildren"));
  EXPECT_EQ(driver.last<action::WatchChildren>().path, "/lock");
  EXPECT_THAT(driver.children_watched({kFurtherAhead, kAhead, mine(driver)}, Topic::line).actions(), IsEmpty());
  EXPECT_THAT(driver.changed(Topic::line, WatchEvent::children_changed).actions(), ElementsAre("WatchChildren"));
  EXPECT_THAT(driver.children_watched({kAhead, mine(driver)}, Topic::line).actions(), IsEmpty());
  driver.changed(Topic::line, WatchEvent::children_changed);
  EXPECT_THAT(driver.children_watched({mine(driver)}, Topic::line).actions(), ElementsAre("Unwatch", "MakeHold"));
  EXPECT_FALSE(driver.last<action::MakeHold>().check_node) << "it was read, not inferred";
  driver.granted();
}

TEST(QueueFlow, AQueueThatIsWatchedAndLacksOurNode_IsJoinedAgain) {
  Driver driver = drive();
  driver.session_ready().created();
  driver.listed({kAhead, mine(driver)}).watch_refused();
  Driver path_gone = driver;
  driver.children_watched({kAhead}, Topic::line);
  EXPECT_THAT(driver.actions(), ElementsAre("Unwatch", "Unprobe", "Remove", "AwaitSession"));
  path_gone.children_watch_no_node(Topic::line);
  EXPECT_THAT(path_gone.actions(), ElementsAre("Unprobe", "Remove", "AwaitSession"));
}

TEST(QueueFlow, AQueueThatMayNotBeListedEither_IsARefusal) {
  Driver driver = drive();
  driver.session_ready().created();
  driver.listed({kAhead, mine(driver)}).watch_refused().refused();
  ASSERT_TRUE(driver.failed());
  EXPECT_EQ(driver.failed()->status, Status::not_authorized);
}

TEST(QueueFlow, AVersionToken_IsRaisedFromTheListingOfAQueueThatIsWatched) {
  Driver driver = drive(spec(NodeKind::lock, true));
  driver.session_ready().created();
  driver.listed({kAhead, mine(driver)}).watch_refused();
  driver.children_watched({mine(driver)}, Topic::line, 41);
  EXPECT_THAT(driver.actions(), ElementsAre("Unwatch", "RaiseVersion"));
  EXPECT_EQ(driver.last<action::RaiseVersion>().expected, 41);
}

TEST(QueueFlow, TheAclOfTheLock_IsThatOfItsNodes) {
  EXPECT_EQ(drive().session_ready().last<action::Create>().spec.acl, nullptr) << "the connection's";
  QueueSpec own = spec();
  own.options.acl = Acl::creator_all();
  Driver driver = drive(own);
  const AclPtr acl = driver.session_ready().last<action::Create>().spec.acl;
  ASSERT_TRUE(acl);
  EXPECT_EQ(acl->entries().front().scheme, "auth");
  EXPECT_EQ(driver.last<action::Create>().spec.parent_acl, nullptr) << "parents are the connection's business";
}

// ---- Tries ----

TEST(QueueFlow, ATry_LooksBeforeItJoins) {
  Driver driver = drive(spec(), Patience::try_once);
  EXPECT_THAT(driver.session_ready().actions(), ElementsAre("List"));
  Driver busy = driver;
  EXPECT_THAT(busy.listed({kAhead}).actions(), ElementsAre("NotServed"));
  EXPECT_THAT(driver.list_no_node().actions(), ElementsAre("Create", "List"));
  driver.created().listed({mine(driver)}).granted();
}

TEST(QueueFlow, ATryThatWasOvertaken_LeavesAgain) {
  Driver driver = drive(spec(), Patience::try_once);
  driver.session_ready().listed({}).created();
  EXPECT_THAT(driver.listed({kAhead, mine(driver)}).actions(), ElementsAre("Remove", "NotServed"));
}

TEST(QueueFlow, ATryWhoseSessionIsOver_IsNotServed) {
  Driver driver = drive(spec(), Patience::try_once);
  driver.session_ready().session_over();
  EXPECT_TRUE(driver.not_served());
}

// ---- Version tokens ----

TEST(QueueFlow, AVersionToken_IsRaisedFromTheVersionOfTheListing) {
  Driver driver = drive(spec(NodeKind::lock, true));
  driver.session_ready();
  EXPECT_EQ(driver.last<action::Create>().spec.parent_mode, CreateMode::persistent);
  driver.created().listed({mine(driver)}, Topic::line, 41);
  EXPECT_THAT(driver.actions(), ElementsAre("RaiseVersion"));
  EXPECT_EQ(driver.last<action::RaiseVersion>().expected, 41);
  EXPECT_EQ(driver.last<action::RaiseVersion>().data, "guid1");
  driver.version_raised(Status::ok, 42).granted();
  EXPECT_EQ(driver.hold()->grant.token, (FencingToken{101, 42}));
}

TEST(QueueFlow, AVersionThatSomebodyElseRaised_IsReadAgain) {
  Driver driver = drive(spec(NodeKind::lock, true));
  driver.session_ready().created();
  driver.listed({mine(driver)}, Topic::line, 41);
  EXPECT_THAT(driver.version_raised(Status::bad_version).actions(), ElementsAre("List"));
  driver.listed({mine(driver)}, Topic::line, 43);
  EXPECT_EQ(driver.last<action::RaiseVersion>().expected, 43);
}

TEST(QueueFlow, WithVersionTokens_DeletionIsFollowedByAListing) {
  EXPECT_THAT(second_in_line(spec(NodeKind::lock, true)).changed().actions(), ElementsAre("List"));
}

TEST(QueueFlow, AReader_RaisesNoVersion) {
  Driver driver = drive(spec(NodeKind::read, true));
  driver.session_ready().created();
  EXPECT_THAT(driver.listed({mine(driver)}).actions(), ElementsAre("MakeHold"));
}

// ---- A semaphore's line ----

TEST(QueueFlow, FirstInALineThatIsOnlyAStep_KeepsItsPlaceUntilItLeaves) {
  Driver driver = drive(spec(NodeKind::lock, false, NodeRole::waits));
  driver.session_ready().created();
  EXPECT_FALSE(driver.flow().is_first());
  EXPECT_THAT(driver.listed({mine(driver)}).actions(), ElementsAre("Probe"));
  EXPECT_TRUE(driver.flow().is_first());
  EXPECT_THAT(driver.left().actions(), ElementsAre("Unprobe", "Remove"));
}

// ---- Everything ----

TEST(QueueFlow, InEveryState_EveryEventLeavesNothingBehind) {
  std::size_t states = 0;
  for (const NodeKind kind : {NodeKind::lock, NodeKind::read})
    for (const bool version_token : {false, true})
      for (const Patience patience : {Patience::queue, Patience::try_once})
        states += FlowExplorer<QueueFlow>().explore(
            QueueFlow(std::make_shared<const QueueSpec>(spec(kind, version_token)), patience));
  states +=
      FlowExplorer<QueueFlow>().explore(QueueFlow(std::make_shared<const QueueSpec>(look_ahead()), Patience::queue));
  RecordProperty("states", static_cast<int>(states));
  EXPECT_GT(states, 400U);
}

}  // namespace
}  // namespace zkrecipes::detail
