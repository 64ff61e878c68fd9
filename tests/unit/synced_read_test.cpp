// SPDX-License-Identifier: Apache-2.0
#include "connection/synced_read.h"

#include <gtest/gtest.h>
#include <optional>

#include "tests/unit/scripted_sender.h"

namespace zkrecipes::detail {
namespace {

using Kind = RequestKind;

class SyncedReadTest : public ::testing::Test {
 protected:
  void SetUp() override {
    read_synced(sender_, sender_.session(), {Kind::exists, "/node"}, [this](const Reply& reply) {
      EXPECT_FALSE(reply_) << "completed twice";
      reply_ = reply;
    });
    ASSERT_EQ(sender_.outstanding(), 2u) << "both must be in flight together";
  }
  void answer(Status sync, Status read) {
    EXPECT_EQ(sender_.answer(Kind::sync, sync).path, "/node");
    EXPECT_FALSE(reply_);
    sender_.answer(Kind::exists, read);
  }
  void expect(Status status) {
    ASSERT_TRUE(reply_);
    EXPECT_EQ(reply_->status, status);
    EXPECT_TRUE(sender_.idle());
  }

  ScriptedSender sender_;
  std::optional<Reply> reply_;
};

TEST_F(SyncedReadTest, TellsWhatWasReadAndOnWhichConnection) {
  answer(Status::ok, Status::ok);
  expect(Status::ok);
  EXPECT_EQ(reply_->connection, sender_.connection());
}

TEST_F(SyncedReadTest, MissingNodeIsAnAnswerAlsoToTheSync) {
  answer(Status::no_node, Status::no_node);
  expect(Status::no_node);
}

TEST_F(SyncedReadTest, LostSyncMakesTheReadWorthless) {
  answer(Status::connection_loss, Status::no_node);
  expect(Status::connection_loss);
}

TEST_F(SyncedReadTest, ReadOnAnotherConnectionThanItsSyncIsWorthless) {
  sender_.answer(Kind::sync, Status::ok);
  sender_.reconnect();
  sender_.answer(Kind::exists, Status::ok);
  expect(Status::connection_loss);
}

TEST_F(SyncedReadTest, RefusedSyncIsReported) {
  answer(Status::not_authorized, Status::ok);
  expect(Status::not_authorized);
}

TEST_F(SyncedReadTest, EndOfTheSessionIsReported) {
  answer(Status::connection_loss, Status::session_over);
  expect(Status::session_over);
}

}  // namespace
}  // namespace zkrecipes::detail
