// SPDX-License-Identifier: Apache-2.0
#include "connection/node_remover.h"

#include <gtest/gtest.h>
#include <optional>

#include "tests/unit/scripted_sender.h"

namespace zkrecipes::connection {
namespace {

using Kind = RequestKind;

constexpr std::int64_t kOurSession = 77;
constexpr std::int64_t kOtherSession = 66;

class NodeRemoverTest : public ::testing::Test {
 protected:
  std::function<void(Status)> done() {
    return [this](Status status) {
      EXPECT_FALSE(status_) << "completed twice";
      status_ = status;
    };
  }
  void begin(const std::string& guid_in_data = {}) {
    remove_for_certain(sender_, sender_.session(), "/a/node", guid_in_data, done());
  }
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
  remove_for_certain(sender_, sender_.session(), "/a/node", {}, nullptr);
  sender_.answer(Kind::remove, Status::ok);
  EXPECT_TRUE(sender_.idle());
}

TEST_F(NodeRemoverTest, SharedNameIsRemovedAgainOnlyBehindASyncAndIfItIsStillOurs) {
  begin("guid");
  lose_reply();
  sender_.answer(Kind::sync, Status::ok);
  sender_.answer_node(Kind::get, "held by guid", kOurSession, 1);
  sender_.answer(Kind::remove, Status::ok);
  expect_done(Status::ok);
}

TEST_F(NodeRemoverTest, SharedNameThatAnotherHasTakenIsLeftAlone) {
  begin("guid");
  lose_reply();
  sender_.answer(Kind::sync, Status::ok);
  sender_.answer_node(Kind::get, "held by another", kOtherSession, 2);
  expect_done(Status::ok);
}

TEST_F(NodeRemoverTest, SharedNameOfAnotherSessionIsLeftAlone) {
  begin("guid");
  lose_reply();
  sender_.answer(Kind::sync, Status::ok);
  sender_.answer_node(Kind::get, "held by guid", kOtherSession, 2);
  expect_done(Status::ok);
}

TEST_F(NodeRemoverTest, SharedNameThatIsGoneIsDone) {
  begin("guid");
  lose_reply();
  sender_.answer(Kind::sync, Status::no_node);
  sender_.answer(Kind::get, Status::no_node);
  expect_done(Status::ok);
}

TEST_F(NodeRemoverTest, SessionThatEndsDuringTheLookIsReported) {
  begin("guid");
  lose_reply();
  sender_.answer(Kind::sync, Status::session_over);
  expect_done(Status::session_over);
}

TEST_F(NodeRemoverTest, RemoveIfOursLooksBeforeTheFirstAttempt) {
  remove_if_ours(sender_, sender_.session(), "/a/node", "guid", done());
  sender_.answer(Kind::sync, Status::ok);
  sender_.answer_node(Kind::get, "held by another", kOurSession, 2);
  expect_done(Status::ok);
}

TEST_F(NodeRemoverTest, RemoveIfOursNeedNotLookAtANameThatIsOursAlone) {
  remove_if_ours(sender_, sender_.session(), "/a/node", {}, done());
  sender_.answer(Kind::remove, Status::ok);
  expect_done(Status::ok);
}

}  // namespace
}  // namespace zkrecipes::connection
