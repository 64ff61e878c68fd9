// SPDX-License-Identifier: Apache-2.0
#include "connection/confirmed_set.h"

#include <gtest/gtest.h>
#include <optional>

#include "tests/unit/scripted_sender.h"

namespace zkrecipes::detail {
namespace {

using Kind = RequestKind;

class ConfirmedSetTest : public ::testing::Test {
 protected:
  void begin(std::int32_t version) {
    set_confirmed(sender_, sender_.session(), "/node", "mine", version, [this](Reply reply) {
      EXPECT_FALSE(reply_) << "completed twice";
      reply_ = std::move(reply);
    });
  }
  void lose_reply() {
    sender_.answer(Kind::set, Status::connection_loss);
    sender_.end_pause();
  }
  void answer_get(const std::string& data, std::int32_t version) {
    sender_.answer_node(Kind::get, data, 0, 1, version);
  }
  void expect_done(Status status) {
    ASSERT_TRUE(reply_);
    EXPECT_EQ(reply_->status, status);
    EXPECT_TRUE(sender_.idle());
  }

  ScriptedSender sender_;
  std::optional<Reply> reply_;
};

TEST_F(ConfirmedSetTest, OneRequestIsEnoughWhenNothingGoesWrong) {
  begin(3);
  const Request request = sender_.answer_node(Kind::set, "", 0, 1, 4);
  EXPECT_EQ(request.version, 3);
  EXPECT_EQ(request.data, "mine");
  expect_done(Status::ok);
  EXPECT_EQ(reply_->stat.version, 4);
}

TEST_F(ConfirmedSetTest, VersionConflictIsReported) {
  begin(3);
  sender_.answer(Kind::set, Status::bad_version);
  expect_done(Status::bad_version);
}

TEST_F(ConfirmedSetTest, LostReplyOfAWriteThatWasAppliedIsOk) {
  begin(3);
  lose_reply();
  answer_get("mine", 4);
  expect_done(Status::ok);
  EXPECT_EQ(reply_->stat.version, 4);
}

TEST_F(ConfirmedSetTest, LostReplyOfAWriteThatWasNotAppliedWritesAgain) {
  begin(3);
  lose_reply();
  answer_get("old", 3);
  sender_.answer_node(Kind::set, "", 0, 1, 4);
  expect_done(Status::ok);
}

TEST_F(ConfirmedSetTest, WriteRepeatedBecauseAServerLaggedBehindMeetsItself) {
  begin(3);
  lose_reply();
  answer_get("old", 3);
  sender_.answer(Kind::set, Status::bad_version);
  answer_get("mine", 4);
  expect_done(Status::ok);
}

TEST_F(ConfirmedSetTest, LostReplyThatSomebodyOvertookIsAConflict) {
  begin(3);
  lose_reply();
  answer_get("theirs", 4);
  expect_done(Status::bad_version);
}

TEST_F(ConfirmedSetTest, UnconditionalWriteIsRepeatedUntilItIsSeen) {
  begin(-1);
  lose_reply();
  answer_get("old", 8);
  lose_reply();
  answer_get("mine", 9);
  expect_done(Status::ok);
}

TEST_F(ConfirmedSetTest, NodeThatVanishedIsReported) {
  begin(3);
  lose_reply();
  sender_.answer(Kind::get, Status::no_node);
  expect_done(Status::no_node);
}

TEST_F(ConfirmedSetTest, EndOfTheSessionIsReported) {
  begin(3);
  lose_reply();
  sender_.answer(Kind::get, Status::session_over);
  expect_done(Status::session_over);
}

}  // namespace
}  // namespace zkrecipes::detail
