// SPDX-License-Identifier: Apache-2.0
#include "connection/protected_create.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <optional>

#include "tests/unit/scripted_sender.h"

namespace zkrecipes::detail {
namespace {

using Kind = RequestKind;

constexpr std::int64_t kOurSession = 77;
constexpr std::int64_t kOtherSession = 66;

class ProtectedCreateTest : public ::testing::Test {
 protected:
  static CreateSpec queue_spec() {
    CreateSpec spec;
    spec.parent = "/locks/a";
    spec.name = "_c_guid-lock-";
    spec.guid = "guid";
    spec.data = "me";
    return spec;
  }
  static CreateSpec fixed_spec() {
    CreateSpec spec;
    spec.parent = "/locks/a";
    spec.name = "owner";
    spec.guid = "guid";
    spec.guid_place = GuidPlace::in_data;
    spec.mode = CreateMode::ephemeral;
    spec.data = "held by guid";
    return spec;
  }

  void begin(CreateSpec spec, ChrootPtr chroot = nullptr) {
    const auto done = [this](Status status, CreatedNode node) {
      EXPECT_FALSE(status_) << "completed twice";
      status_ = status;
      node_ = std::move(node);
    };
    create_protected(sender_, sender_.session(), std::move(spec), done, std::move(chroot));
  }
  void lose_create() {
    sender_.answer(Kind::create, Status::connection_loss);
    ASSERT_EQ(sender_.outstanding(), 2u) << "sync and look must be in flight together";
  }
  /// The node is found with the owner.
  void answer_look(const std::vector<std::string>& children) {
    sender_.answer(Kind::sync, Status::ok);
    sender_.answer_children(children);
  }

  void expect_created(const std::string& path, std::int64_t czxid, bool recovered) {
    ASSERT_TRUE(status_);
    EXPECT_EQ(*status_, Status::ok);
    EXPECT_EQ(node_.path, path);
    EXPECT_EQ(node_.stat.czxid, czxid);
    EXPECT_EQ(node_.recovered, recovered);
    EXPECT_TRUE(sender_.idle());
  }
  void expect_failed(Status status) {
    ASSERT_TRUE(status_);
    EXPECT_EQ(*status_, status);
    EXPECT_TRUE(sender_.idle());
  }

  ScriptedSender sender_;
  std::optional<Status> status_;
  CreatedNode node_;
};

TEST_F(ProtectedCreateTest, OneRequestIsEnoughWhenNothingGoesWrong) {
  begin(queue_spec());
  const Request request = sender_.answer_created("/locks/a/_c_guid-lock-7", 1000);
  EXPECT_EQ(request.path, "/locks/a/_c_guid-lock-");
  EXPECT_EQ(request.data, "me");
  EXPECT_EQ(request.mode, CreateMode::ephemeral_sequential);
  expect_created("/locks/a/_c_guid-lock-7", 1000, false);
}

TEST_F(ProtectedCreateTest, FinalRefusalsAreReportedAsTheyAre) {
  for (const Status status : {Status::not_authorized, Status::node_exists, Status::no_children_for_ephemerals,
                              Status::invalid, Status::session_over, Status::closed}) {
    status_.reset();
    begin(queue_spec());
    sender_.answer(Kind::create, status);
    expect_failed(status);
  }
}

TEST_F(ProtectedCreateTest, MissingParentsAreMadeFromTheBottomUpAndDownAgain) {
  begin(queue_spec());
  sender_.answer(Kind::create, Status::no_node);
  EXPECT_EQ(sender_.answer(Kind::create, Status::no_node).path, "/locks/a");
  const Request top = sender_.answer_created("/locks", 1);
  EXPECT_EQ(top.path, "/locks");
  EXPECT_EQ(top.mode, CreateMode::container);
  EXPECT_EQ(sender_.answer_created("/locks/a", 2).path, "/locks/a");
  sender_.answer_created("/locks/a/_c_guid-lock-0", 3);
  expect_created("/locks/a/_c_guid-lock-0", 3, false);
}

/// As a semaphore's.
CreateSpec guarded_spec(CreateSpec spec) {
  spec.guarded = "/locks";
  spec.suspects = [](const NameList& children) {
    return children.contains("other") ? std::vector<std::string>{"folder", "other"} : std::vector<std::string>();
  };
  return spec;
}

TEST_F(ProtectedCreateTest, MissingParentsOfAnOccupiedPath_AreNotMade) {
  begin(guarded_spec(queue_spec()));
  sender_.answer(Kind::create, Status::no_node);
  EXPECT_EQ(sender_.answer_children({"foreign", "folder", "other"}).path, "/locks");
  EXPECT_EQ(sender_.answer_node(Kind::exists, "", kOtherSession, 1).path, "/locks/other");
  expect_failed(Status::occupied);
  EXPECT_EQ(node_.path, "/locks/other");
}

TEST_F(ProtectedCreateTest, OnlyAnEphemeralNode_OccupiesAPath) {
  begin(guarded_spec(queue_spec()));
  sender_.answer(Kind::create, Status::no_node);
  sender_.answer_children({"folder", "other"});
  sender_.answer(Kind::exists, Status::no_node);
  EXPECT_EQ(sender_.answer_node(Kind::exists, "", 0, 1).path, "/locks/folder");
  sender_.answer_created("/locks/a", 1);
  sender_.answer_created("/locks/a/_c_guid-lock-0", 2);
  expect_created("/locks/a/_c_guid-lock-0", 2, false);
}

TEST_F(ProtectedCreateTest, MissingParentsOfAFreePath_AreMade) {
  begin(guarded_spec(queue_spec()));
  sender_.answer(Kind::create, Status::no_node);
  sender_.answer_children({"foreign"});
  sender_.answer_created("/locks/a", 1);
  sender_.answer_created("/locks/a/_c_guid-lock-0", 2);
  expect_created("/locks/a/_c_guid-lock-0", 2, false);
}

TEST_F(ProtectedCreateTest, AParentThatMustNotBeMade_IsReported) {
  CreateSpec spec = guarded_spec(queue_spec());
  spec.needs_parent = true;
  begin(spec);
  sender_.answer(Kind::create, Status::no_node);
  expect_failed(Status::no_parent);
}

TEST_F(ProtectedCreateTest, APathThatIsMissingItself_IsFree) {
  begin(guarded_spec(queue_spec()));
  sender_.answer(Kind::create, Status::no_node);
  sender_.answer(Kind::list, Status::no_node);
  EXPECT_EQ(sender_.answer_created("/locks/a", 1).path, "/locks/a");
  sender_.answer_created("/locks/a/_c_guid-lock-0", 2);
  expect_created("/locks/a/_c_guid-lock-0", 2, false);
}

TEST_F(ProtectedCreateTest, APathThatCannotBeLookedAt_IsLeftAlone) {
  begin(guarded_spec(queue_spec()));
  sender_.answer(Kind::create, Status::no_node);
  sender_.answer(Kind::list, Status::not_authorized);
  expect_failed(Status::not_authorized);
}

TEST_F(ProtectedCreateTest, AnExistingParent_CostsNoLook) {
  begin(guarded_spec(queue_spec()));
  sender_.answer_created("/locks/a/_c_guid-lock-0", 1);
  expect_created("/locks/a/_c_guid-lock-0", 1, false);
}

TEST_F(ProtectedCreateTest, AMissingChroot_IsMadeAndReportedOnce) {
  int made = 0;
  begin(queue_spec(), std::make_shared<const Chroot>(Chroot{"/locks", true, [&] { ++made; }}));
  sender_.answer(Kind::create, Status::no_node);
  sender_.answer(Kind::create, Status::no_node);
  sender_.answer_created("/locks", 1);
  EXPECT_EQ(made, 1);
  sender_.answer_created("/locks/a", 2);
  sender_.answer_created("/locks/a/_c_guid-lock-0", 3);
  expect_created("/locks/a/_c_guid-lock-0", 3, false);
  EXPECT_EQ(made, 1);
}

TEST_F(ProtectedCreateTest, AMissingChrootThatIsNotWanted_IsNotMade) {
  const auto chroot = std::make_shared<const Chroot>(Chroot{"/locks", false, [] { FAIL(); }});
  begin(queue_spec(), chroot);
  sender_.answer(Kind::create, Status::no_node);
  sender_.answer(Kind::create, Status::no_node);
  expect_failed(Status::no_chroot);
}

TEST_F(ProtectedCreateTest, NodeAndParentsHaveAclsOfTheirOwn) {
  CreateSpec spec = queue_spec();
  spec.acl = std::make_shared<const Acl>(Acl::creator_all());
  spec.parent_acl = std::make_shared<const Acl>();
  begin(spec);
  EXPECT_EQ(sender_.answer(Kind::create, Status::no_node).acl, spec.acl);
  EXPECT_EQ(sender_.answer(Kind::create, Status::no_node).acl, spec.parent_acl);
  EXPECT_EQ(sender_.answer(Kind::create, Status::ok).acl, spec.parent_acl);
  EXPECT_EQ(sender_.answer(Kind::create, Status::ok).acl, spec.parent_acl);
  EXPECT_EQ(sender_.answer_created("/locks/a/_c_guid-lock-0000000000", 5).acl, spec.acl);
  expect_created("/locks/a/_c_guid-lock-0000000000", 5, false);
}

TEST_F(ProtectedCreateTest, ParentThatWasMadeForTheNode_IsReported) {
  begin(queue_spec());
  sender_.answer(Kind::create, Status::no_node);
  sender_.answer(Kind::create, Status::ok);
  sender_.answer_created("/locks/a/_c_guid-lock-0", 3);
  EXPECT_TRUE(node_.made_parent);
}

TEST_F(ProtectedCreateTest, ParentThatSomebodyElseMadeBelowOurs_IsNotReported) {
  begin(queue_spec());
  sender_.answer(Kind::create, Status::no_node);
  sender_.answer(Kind::create, Status::no_node);
  sender_.answer(Kind::create, Status::ok);
  sender_.answer(Kind::create, Status::node_exists);
  sender_.answer_created("/locks/a/_c_guid-lock-0", 3);
  EXPECT_FALSE(node_.made_parent);
}

TEST_F(ProtectedCreateTest, ParentThatSomebodyElseMadeMeanwhileIsFine) {
  begin(queue_spec());
  sender_.answer(Kind::create, Status::no_node);
  sender_.answer(Kind::create, Status::node_exists);
  sender_.answer_created("/locks/a/_c_guid-lock-0", 3);
  expect_created("/locks/a/_c_guid-lock-0", 3, false);
}

TEST_F(ProtectedCreateTest, LostReplyOfAParentIsRepeatedAfterAPause) {
  begin(queue_spec());
  sender_.answer(Kind::create, Status::no_node);
  EXPECT_EQ(sender_.answer(Kind::create, Status::connection_loss).path, "/locks/a");
  sender_.end_pause();
  EXPECT_EQ(sender_.answer(Kind::create, Status::node_exists).path, "/locks/a");
  sender_.answer_created("/locks/a/_c_guid-lock-0", 3);
  expect_created("/locks/a/_c_guid-lock-0", 3, false);
}

TEST_F(ProtectedCreateTest, ServerWithoutContainersGetsPersistentParents) {
  begin(queue_spec());
  sender_.answer(Kind::create, Status::no_node);
  EXPECT_EQ(sender_.answer(Kind::create, Status::unsupported).mode, CreateMode::container);
  EXPECT_EQ(sender_.answer_created("/locks/a", 2).mode, CreateMode::persistent);
  sender_.answer_created("/locks/a/_c_guid-lock-0", 3);
  expect_created("/locks/a/_c_guid-lock-0", 3, false);
}

TEST_F(ProtectedCreateTest, RefusedParentEndsTheCall) {
  begin(queue_spec());
  sender_.answer(Kind::create, Status::no_node);
  sender_.answer(Kind::create, Status::not_authorized);
  expect_failed(Status::not_authorized);
}

TEST_F(ProtectedCreateTest, LostReplyWithTheNodeThereTakesItWithItsCzxid) {
  begin(queue_spec());
  lose_create();
  answer_look({"_c_other-lock-3", "_c_guid-lock-4"});
  EXPECT_EQ(sender_.answer_node(Kind::exists, "", kOurSession, 1234).path, "/locks/a/_c_guid-lock-4");
  expect_created("/locks/a/_c_guid-lock-4", 1234, true);
}

TEST_F(ProtectedCreateTest, LostReplyWithoutTheNodeCreatesAgainWithTheSameGuid) {
  begin(queue_spec());
  lose_create();
  answer_look({"_c_other-lock-3"});
  EXPECT_EQ(sender_.answer_created("/locks/a/_c_guid-lock-5", 9).path, "/locks/a/_c_guid-lock-");
  expect_created("/locks/a/_c_guid-lock-5", 9, false);
}

TEST_F(ProtectedCreateTest, LostReplyWithTheParentGoneCreatesAgain) {
  begin(queue_spec());
  lose_create();
  sender_.answer(Kind::sync, Status::no_node);
  sender_.answer(Kind::list, Status::no_node);
  sender_.answer_created("/locks/a/_c_guid-lock-5", 9);
  expect_created("/locks/a/_c_guid-lock-5", 9, false);
}

TEST_F(ProtectedCreateTest, NodeOfAnotherSessionIsRemovedAndNotTaken) {
  begin(queue_spec());
  lose_create();
  answer_look({"_c_guid-lock-4"});
  sender_.answer_node(Kind::exists, "", kOtherSession, 1234);
  EXPECT_EQ(sender_.answer(Kind::remove, Status::ok).path, "/locks/a/_c_guid-lock-4");
  sender_.answer_created("/locks/a/_c_guid-lock-5", 9);
  expect_created("/locks/a/_c_guid-lock-5", 9, false);
}

TEST_F(ProtectedCreateTest, OfTwoCandidatesOneIsKeptAndTheOtherRemoved) {
  begin(queue_spec());
  lose_create();
  answer_look({"_c_guid-lock-4", "_c_guid-lock-6"});
  const std::string kept = sender_.answer_node(Kind::exists, "", kOurSession, 1).path;
  const std::string other = sender_.answer_node(Kind::exists, "", kOurSession, 1).path;
  EXPECT_NE(kept, other);
  EXPECT_EQ(sender_.answer(Kind::remove, Status::ok).path, other);
  expect_created(kept, 1, true);
}

TEST_F(ProtectedCreateTest, CandidateThatVanishedIsPassedOver) {
  begin(queue_spec());
  lose_create();
  answer_look({"_c_guid-lock-4"});
  sender_.answer(Kind::exists, Status::no_node);
  sender_.answer_created("/locks/a/_c_guid-lock-5", 9);
  expect_created("/locks/a/_c_guid-lock-5", 9, false);
}

TEST_F(ProtectedCreateTest, FailedListingLooksAgainAfterAPause) {
  begin(queue_spec());
  lose_create();
  sender_.answer(Kind::sync, Status::connection_loss);
  sender_.answer(Kind::list, Status::connection_loss);
  sender_.end_pause();
  answer_look({"_c_guid-lock-4"});
  sender_.answer_node(Kind::exists, "", kOurSession, 1234);
  expect_created("/locks/a/_c_guid-lock-4", 1234, true);
}

TEST_F(ProtectedCreateTest, ListingBehindAFailedSyncIsNotBelieved) {
  begin(queue_spec());
  lose_create();
  sender_.answer(Kind::sync, Status::connection_loss);
  sender_.answer_children({});  // perhaps from a server that lags behind
  sender_.end_pause();
  answer_look({"_c_guid-lock-4"});
  sender_.answer_node(Kind::exists, "", kOurSession, 1234);
  expect_created("/locks/a/_c_guid-lock-4", 1234, true);
}

TEST_F(ProtectedCreateTest, MissingParentBehindAFailedSyncIsNotBelieved) {
  begin(queue_spec());
  lose_create();
  sender_.answer(Kind::sync, Status::connection_loss);
  sender_.answer(Kind::list, Status::no_node);  // perhaps from a server that lags behind
  sender_.end_pause();
  answer_look({"_c_guid-lock-4"});
  sender_.answer_node(Kind::exists, "", kOurSession, 1234);
  expect_created("/locks/a/_c_guid-lock-4", 1234, true);
}

TEST_F(ProtectedCreateTest, MissingFixedNameBehindAFailedSyncIsNotBelieved) {
  begin(fixed_spec());
  lose_create();
  sender_.answer(Kind::sync, Status::connection_loss);
  sender_.answer(Kind::get, Status::no_node);
  sender_.end_pause();
  sender_.answer(Kind::sync, Status::ok);
  sender_.answer_node(Kind::get, "held by guid", kOurSession, 5);
  expect_created("/locks/a/owner", 5, true);
}

TEST_F(ProtectedCreateTest, ListingOnAnotherConnectionThanItsSyncIsNotBelieved) {
  begin(queue_spec());
  lose_create();
  sender_.answer(Kind::sync, Status::ok);
  sender_.reconnect();
  sender_.answer_children({});
  sender_.end_pause();
  answer_look({"_c_guid-lock-4"});
  sender_.answer_node(Kind::exists, "", kOurSession, 1234);
  expect_created("/locks/a/_c_guid-lock-4", 1234, true);
}

TEST_F(ProtectedCreateTest, CreateAfterALookGoesOutOnTheConnectionThatAnsweredTheLook) {
  begin(queue_spec());
  lose_create();
  answer_look({});  // perhaps by a leader that has been deposed
  sender_.reconnect();
  EXPECT_EQ(sender_.answer(Kind::create, Status::connection_loss).connection, 1u);
  sender_.end_pause();
  answer_look({"_c_guid-lock-4"});
  sender_.answer_node(Kind::exists, "", kOurSession, 1234);
  expect_created("/locks/a/_c_guid-lock-4", 1234, true);
}

TEST_F(ProtectedCreateTest, ConnectionLostWhileExaminingLooksAgain) {
  begin(queue_spec());
  lose_create();
  answer_look({"_c_guid-lock-4"});
  sender_.answer(Kind::exists, Status::connection_loss);
  sender_.end_pause();
  answer_look({"_c_guid-lock-4"});
  sender_.answer_node(Kind::exists, "", kOtherSession, 1234);
  sender_.answer(Kind::remove, Status::connection_loss);
  sender_.end_pause();
  answer_look({});
  sender_.answer_created("/locks/a/_c_guid-lock-5", 9);
  expect_created("/locks/a/_c_guid-lock-5", 9, false);
}

TEST_F(ProtectedCreateTest, TwoLostRepliesInARowEndInOneNode) {
  begin(queue_spec());
  lose_create();
  answer_look({});
  sender_.answer(Kind::create, Status::connection_loss);
  sender_.end_pause();  // the first retry is sent at once, the next ones after a pause
  answer_look({"_c_guid-lock-4"});
  sender_.answer_node(Kind::exists, "", kOurSession, 1234);
  expect_created("/locks/a/_c_guid-lock-4", 1234, true);
}

TEST_F(ProtectedCreateTest, EndOfTheSessionEndsTheSearch) {
  begin(queue_spec());
  lose_create();
  sender_.answer(Kind::sync, Status::session_over);
  sender_.answer(Kind::list, Status::session_over);
  expect_failed(Status::session_over);
}

TEST_F(ProtectedCreateTest, FixedNameWhoseReplyWasLostIsRecognisedByItsData) {
  begin(fixed_spec());
  lose_create();
  sender_.answer(Kind::sync, Status::ok);
  EXPECT_EQ(sender_.answer_node(Kind::get, "held by guid", kOurSession, 5).path, "/locks/a/owner");
  expect_created("/locks/a/owner", 5, true);
}

TEST_F(ProtectedCreateTest, FixedNameTakenBySomebodyElseMeanwhileExists) {
  begin(fixed_spec());
  lose_create();
  sender_.answer(Kind::sync, Status::ok);
  sender_.answer_node(Kind::get, "held by another", kOtherSession, 5);
  expect_failed(Status::node_exists);
}

TEST_F(ProtectedCreateTest, FixedNameWhoseDataWasOverwrittenIsOursIfOurSessionOwnsIt) {
  begin(fixed_spec());
  lose_create();
  sender_.answer(Kind::sync, Status::ok);
  sender_.answer_node(Kind::get, "asked to give up, with the guid of the node before", kOurSession, 5);
  expect_created("/locks/a/owner", 5, true);
}

TEST_F(ProtectedCreateTest, FixedNameOfAnotherContenderOfTheSameSessionExists) {
  begin(fixed_spec());
  sender_.answer_created("/locks/a/owner", 5);
  expect_created("/locks/a/owner", 5, false);
  status_.reset();
  begin(fixed_spec());
  lose_create();
  sender_.answer(Kind::sync, Status::ok);
  sender_.answer_node(Kind::get, "held by another", kOurSession, 5);
  expect_failed(Status::node_exists);
}

TEST_F(ProtectedCreateTest, FixedNameIsClaimedByOneOfTwoLostCreatesOnly) {
  for (const bool first : {true, false}) {
    status_.reset();
    begin(fixed_spec());
    lose_create();
    sender_.answer(Kind::sync, Status::ok);
    sender_.answer_node(Kind::get, "held by guid", kOurSession, 5);
    ASSERT_TRUE(status_);
    EXPECT_EQ(*status_, first ? Status::ok : Status::node_exists);
  }
}

TEST_F(ProtectedCreateTest, FixedNameThatIsOlderThanAClaimedOneIsGone) {
  begin(fixed_spec());
  sender_.answer_created("/locks/a/owner", 20);
  expect_created("/locks/a/owner", 20, false);
  status_.reset();
  begin(fixed_spec());
  sender_.answer_created("/locks/a/owner", 10);  // an answer that was held up for long
  expect_failed(Status::node_exists);
}

TEST_F(ProtectedCreateTest, FixedNameInASharedSessionIsRecognisedByItsGuidAlone) {
  sender_.session()->set_shared();
  begin(fixed_spec());
  lose_create();
  sender_.answer(Kind::sync, Status::ok);
  sender_.answer_node(Kind::get, "held by another", kOurSession, 5);
  expect_failed(Status::node_exists);
}

TEST_F(ProtectedCreateTest, FixedNameThatMayNotBeReadIsJudgedByItsOwner) {
  for (const std::int64_t owner : {kOtherSession, kOurSession}) {
    begin(fixed_spec());
    lose_create();
    sender_.answer(Kind::sync, Status::ok);
    sender_.answer(Kind::get, Status::not_authorized);
    sender_.answer(Kind::sync, Status::ok);
    sender_.answer_node(Kind::exists, "", owner, 5);
    ASSERT_TRUE(status_);
    EXPECT_EQ(*status_, owner == kOurSession ? Status::ok : Status::node_exists);
    status_.reset();
  }
}

TEST_F(ProtectedCreateTest, FixedNameThatMayNotBeReadInASharedSessionIsNobodysForCertain) {
  sender_.session()->set_shared();
  begin(fixed_spec());
  lose_create();
  sender_.answer(Kind::sync, Status::ok);
  sender_.answer(Kind::get, Status::not_authorized);
  sender_.answer(Kind::sync, Status::ok);
  sender_.answer_node(Kind::exists, "", kOurSession, 5);
  ASSERT_TRUE(status_);
  EXPECT_EQ(*status_, Status::not_authorized);
}

TEST_F(ProtectedCreateTest, FixedNameThatIsNotThereIsCreatedAgainAndItsOwnFirstOneFound) {
  begin(fixed_spec());
  lose_create();
  sender_.answer(Kind::sync, Status::ok);
  sender_.answer(Kind::get, Status::no_node);
  sender_.answer(Kind::create, Status::node_exists);  // perhaps ours after all
  sender_.answer(Kind::sync, Status::ok);
  sender_.answer_node(Kind::get, "held by guid", kOurSession, 5);
  expect_created("/locks/a/owner", 5, true);
}

TEST_F(ProtectedCreateTest, StaleNodeOfAnEarlierSessionIsRemovedFirst) {
  CreateSpec spec = queue_spec();
  spec.stale_guid = "old";
  begin(spec);
  EXPECT_EQ(sender_.answer_children({"_c_old-lock-1", "_c_other-lock-2"}).path, "/locks/a");
  EXPECT_EQ(sender_.answer(Kind::remove, Status::no_node).path, "/locks/a/_c_old-lock-1");
  sender_.answer_created("/locks/a/_c_guid-lock-5", 9);
  expect_created("/locks/a/_c_guid-lock-5", 9, false);
}

TEST_F(ProtectedCreateTest, StaleNodeOfFixedNameIsSomebodyElses) {
  CreateSpec spec = fixed_spec();
  spec.stale_guid = "old";
  begin(spec);
  sender_.answer(Kind::create, Status::node_exists);
  expect_failed(Status::node_exists);
}

TEST_F(ProtectedCreateTest, FixedNameOfAnotherSessionIsNeverRemoved) {
  begin(fixed_spec());
  lose_create();
  sender_.answer(Kind::sync, Status::ok);
  sender_.answer_node(Kind::get, "held by guid", kOtherSession, 5);
  expect_failed(Status::node_exists);
}

}  // namespace
}  // namespace zkrecipes::detail
