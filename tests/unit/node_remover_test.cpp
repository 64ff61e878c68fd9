// SPDX-License-Identifier: Apache-2.0
#include "connection/node_remover.h"

#include <gtest/gtest.h>
#include <optional>

#include "tests/unit/scripted_sender.h"

namespace zkrecipes::detail {
namespace {

using Kind = RequestKind;

constexpr std::int64_t kOurSession = 77;
constexpr std::int64_t kOtherSession = 66;
constexpr std::int64_t kOurs = 1234;
constexpr std::int64_t kAnothers = 1235;

class NodeRemoverTest : public ::testing::Test {
 protected:
  std::function<void(Status)> done() {
    return [this](Status status) {
      EXPECT_FALSE(status_) << "completed twice";
      status_ = status;
    };
  }
  void begin(std::int64_t czxid = 0) { remove_for_certain(sender_, sender_.session(), "/a/node", czxid, done()); }
  void lose_reply() {
    sender_.answer(Kind::remove, Status::connection_loss);
    sender_.end_pause();
  }
  void expect_done(Status status) {
    ASSERT_TRUE(status_);
    EXPECT_EQ(*status_, status);
    EXPECT_TRUE(sender_.idle());
  }

  ScriptedSender sender_;
  std::optional<Status> status_;
};

TEST_F(NodeRemoverTest, OneRequestIsEnoughWhenNothingGoesWrong) {
  begin();
  EXPECT_EQ(sender_.answer(Kind::remove, Status::ok).path, "/a/node");
  expect_done(Status::ok);
}

TEST_F(NodeRemoverTest, LostRepliesAreRepeatedWithPausesUntilTheNodeIsGone) {
  begin();
  for (int n = 0; n < 20; ++n) lose_reply();
  sender_.answer(Kind::remove, Status::no_node);
  expect_done(Status::ok);
}

TEST_F(NodeRemoverTest, GivesUpOnFinalAnswersAndSaysWhich) {
  for (const Status status : {Status::not_authorized, Status::not_empty, Status::session_over, Status::closed}) {
    status_.reset();
    begin();
    sender_.answer(Kind::remove, status);
    expect_done(status);
  }
}

TEST_F(NodeRemoverTest, WorksWhenNobodyWaitsForIt) {
  remove_for_certain(sender_, sender_.session(), "/a/node", 0, nullptr);
  sender_.answer(Kind::remove, Status::ok);
  EXPECT_TRUE(sender_.idle());
}

TEST_F(NodeRemoverTest, SharedNameIsRemovedAgainOnlyBehindASyncAndIfItIsStillOurs) {
  begin(kOurs);
  lose_reply();
  EXPECT_EQ(sender_.outstanding(), 2u) << "sync and look must be in flight together";
  sender_.answer(Kind::sync, Status::ok);
  sender_.answer_node(Kind::exists, "", kOurSession, kOurs);
  sender_.answer(Kind::remove, Status::ok);
  expect_done(Status::ok);
}

TEST_F(NodeRemoverTest, SharedNameThatAnotherHasTakenIsLeftAlone) {
  begin(kOurs);
  lose_reply();
  sender_.answer(Kind::sync, Status::ok);
  sender_.answer_node(Kind::exists, "", kOtherSession, kAnothers);
  expect_done(Status::ok);
}

TEST_F(NodeRemoverTest, SharedNameThatOurSessionHasTakenAgainIsLeftAlone) {
  begin(kOurs);
  lose_reply();
  sender_.answer(Kind::sync, Status::ok);
  sender_.answer_node(Kind::exists, "", kOurSession, kAnothers);
  expect_done(Status::ok);
}

TEST_F(NodeRemoverTest, SharedNameThatIsGoneIsDone) {
  begin(kOurs);
  lose_reply();
  sender_.answer(Kind::sync, Status::no_node);
  sender_.answer(Kind::exists, Status::no_node);
  expect_done(Status::ok);
}

TEST_F(NodeRemoverTest, SharedNameIsLookedAtAgainWhenTheSyncOrTheLookIsLost) {
  begin(kOurs);
  lose_reply();
  sender_.answer(Kind::sync, Status::connection_loss);
  sender_.answer_node(Kind::exists, "", kOtherSession, kAnothers);  // perhaps from a server that lags behind
  sender_.end_pause();
  sender_.answer(Kind::sync, Status::ok);
  sender_.answer(Kind::exists, Status::connection_loss);
  sender_.end_pause();
  sender_.answer(Kind::sync, Status::ok);
  sender_.answer_node(Kind::exists, "", kOurSession, kOurs);
  sender_.answer(Kind::remove, Status::ok);
  expect_done(Status::ok);
}

TEST_F(NodeRemoverTest, SharedNameIsRemovedOnTheConnectionThatShowedItOrLookedAtAgain) {
  begin(kOurs);
  lose_reply();
  sender_.answer(Kind::sync, Status::ok);
  sender_.answer_node(Kind::exists, "", kOurSession, kOurs);  // perhaps by a leader that has been deposed
  const std::uint64_t looked_on = sender_.connection();
  sender_.reconnect();
  EXPECT_EQ(sender_.answer(Kind::remove, Status::connection_loss).connection, looked_on);
  sender_.end_pause();
  sender_.answer(Kind::sync, Status::ok);
  sender_.answer_node(Kind::exists, "", kOtherSession, kAnothers);
  expect_done(Status::ok);
}

TEST_F(NodeRemoverTest, LookOnAnotherConnectionThanItsSyncIsNotBelieved) {
  begin(kOurs);
  lose_reply();
  sender_.answer(Kind::sync, Status::ok);
  sender_.reconnect();
  sender_.answer(Kind::exists, Status::no_node);
  sender_.end_pause();
  sender_.answer(Kind::sync, Status::ok);
  sender_.answer_node(Kind::exists, "", kOurSession, kOurs);
  EXPECT_EQ(sender_.answer(Kind::remove, Status::ok).connection, sender_.connection());
  expect_done(Status::ok);
}

TEST_F(NodeRemoverTest, SessionThatEndsDuringTheLookIsReported) {
  begin(kOurs);
  lose_reply();
  sender_.answer(Kind::sync, Status::session_over);
  sender_.answer(Kind::exists, Status::session_over);
  expect_done(Status::session_over);
}

TEST_F(NodeRemoverTest, RemoveIfOursLooksBeforeTheFirstAttempt) {
  remove_if_ours(sender_, sender_.session(), "/a/node", {kOurs, {}}, done());
  sender_.answer(Kind::sync, Status::ok);
  sender_.answer_node(Kind::exists, "", kOurSession, kAnothers);
  expect_done(Status::ok);
}

TEST_F(NodeRemoverTest, OnlyAnAnswerToTheRemovalItselfSaysThatTheNodeWasRemoved) {
  int removed = 0;
  const auto begin_again = [&](const NodeMark& mark) {
    status_.reset();
    remove_if_ours(sender_, sender_.session(), "/a/node", mark, done(), [&] { ++removed; });
  };
  begin_again({kOurs, {}});
  sender_.answer(Kind::sync, Status::ok);
  sender_.answer_node(Kind::exists, "", kOtherSession, kAnothers);
  expect_done(Status::ok);
  EXPECT_EQ(removed, 0) << "it was another's";
  begin_again({kOurs, {}});
  sender_.answer(Kind::sync, Status::ok);
  sender_.answer(Kind::exists, Status::no_node);
  expect_done(Status::ok);
  begin_again({});
  sender_.answer(Kind::remove, Status::no_node);
  expect_done(Status::ok);
  EXPECT_EQ(removed, 0) << "it was gone before";
  begin_again({});
  sender_.answer(Kind::remove, Status::ok);
  expect_done(Status::ok);
  EXPECT_EQ(removed, 1);
}

TEST_F(NodeRemoverTest, NodeOfACreateThatWasNeverAnsweredIsKnownByItsGuid) {
  const std::pair<std::string, std::int64_t> others[] = {{"held by another", kOurSession},
                                                         {"held by guid", kOtherSession}};
  for (const auto& [data, owner] : others) {
    status_.reset();
    remove_if_ours(sender_, sender_.session(), "/a/node", {0, "guid"}, done());
    sender_.answer(Kind::sync, Status::ok);
    sender_.answer_node(Kind::get, data, owner, kAnothers);
    expect_done(Status::ok);
  }
  status_.reset();
  remove_if_ours(sender_, sender_.session(), "/a/node", {0, "guid"}, done());
  sender_.answer(Kind::sync, Status::ok);
  sender_.answer_node(Kind::get, "held by guid", kOurSession, kOurs);
  sender_.answer(Kind::remove, Status::ok);
  expect_done(Status::ok);
}

TEST_F(NodeRemoverTest, RemoveIfOursNeedNotLookAtANameThatIsOursAlone) {
  remove_if_ours(sender_, sender_.session(), "/a/node", {}, done());
  sender_.answer(Kind::remove, Status::ok);
  expect_done(Status::ok);
}

}  // namespace
}  // namespace zkrecipes::detail
