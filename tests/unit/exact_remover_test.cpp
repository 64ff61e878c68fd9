// SPDX-License-Identifier: Apache-2.0
#include "connection/exact_remover.h"

#include <gtest/gtest.h>
#include <optional>

#include "tests/unit/scripted_sender.h"

namespace zkrecipes::detail {
namespace {

using Kind = RequestKind;

constexpr std::int64_t kOtherSession = 66;
constexpr std::int64_t kWanted = 1234;
constexpr std::int64_t kAnothers = 1235;
constexpr std::int32_t kVersion = 7;

class ExactRemoverTest : public ::testing::Test {
 protected:
  ExactRemoverTest() {
    remove_exactly(sender_, sender_.session(), "/a/node", kWanted, kVersion, [this](Status status) {
      EXPECT_FALSE(status_) << "completed twice";
      status_ = status;
    });
  }
  void see(std::int64_t czxid) {
    sender_.answer(Kind::sync, Status::ok);
    sender_.answer_node(Kind::exists, "", kOtherSession, czxid);
  }
  void see_nothing() {
    sender_.answer(Kind::sync, Status::ok);
    sender_.answer(Kind::exists, Status::no_node);
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

TEST_F(ExactRemoverTest, TheNodeThatIsWantedIsRemovedOnTheConnectionThatShowedIt) {
  see(kWanted);
  const Request removal = sender_.answer(Kind::remove, Status::ok);
  EXPECT_EQ(removal.connection, sender_.connection());
  EXPECT_EQ(removal.version, kVersion);
  expect_done(Status::ok);
}

TEST_F(ExactRemoverTest, AnotherNodeIsLeftAlone) {
  see(kAnothers);
  expect_done(Status::bad_version);
}

TEST_F(ExactRemoverTest, NoNodeIsNotTakenForSuccess) {
  see_nothing();
  expect_done(Status::no_node);
}

TEST_F(ExactRemoverTest, AfterALostReplyTheNodeIsLookedAtAgain) {
  see(kWanted);
  lose_reply();
  see(kWanted);
  sender_.answer(Kind::remove, Status::ok);
  expect_done(Status::ok);
}

TEST_F(ExactRemoverTest, AfterALostReplyASuccessorIsLeftAlone) {
  see(kWanted);
  lose_reply();
  see(kAnothers);
  expect_done(Status::ok);
}

TEST_F(ExactRemoverTest, AfterALostReplyNoNodeIsSuccess) {
  see(kWanted);
  lose_reply();
  see_nothing();
  expect_done(Status::ok);
}

TEST_F(ExactRemoverTest, ALookWithoutItsSyncIsNotBelieved) {
  sender_.answer(Kind::sync, Status::connection_loss);
  sender_.answer_node(Kind::exists, "", kOtherSession, kAnothers);
  sender_.end_pause();
  see(kWanted);
  sender_.answer(Kind::remove, Status::ok);
  expect_done(Status::ok);
}

TEST_F(ExactRemoverTest, AFinalRefusalIsReported) {
  see(kWanted);
  sender_.answer(Kind::remove, Status::not_authorized);
  expect_done(Status::not_authorized);
}

}  // namespace
}  // namespace zkrecipes::detail
