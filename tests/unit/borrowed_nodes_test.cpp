// SPDX-License-Identifier: Apache-2.0
#include "connection/borrowed_nodes.h"

#include <gtest/gtest.h>

namespace zkrecipes::detail {
namespace {

CreateSpec queue_spec(const std::string& guid) {
  CreateSpec spec;
  spec.parent = "/locks";
  spec.name = "_c_" + guid + "-lock-";
  spec.guid = guid;
  return spec;
}

CreateSpec fixed_spec(const std::string& guid) {
  CreateSpec spec;
  spec.parent = "/locks";
  spec.name = "owner";
  spec.guid = guid;
  spec.guid_place = GuidPlace::in_data;
  spec.mode = CreateMode::ephemeral;
  return spec;
}

CreatedNode node(const std::string& path, std::int64_t czxid) {
  CreatedNode created;
  created.path = path;
  created.stat.czxid = czxid;
  return created;
}

TEST(BorrowedNodes, RemembersNothingWhenTheSessionIsOurs) {
  BorrowedNodes nodes(false);
  nodes.begun(queue_spec("g"));
  nodes.created(queue_spec("g"), node("/locks/x", 1));
  EXPECT_TRUE(nodes.take().empty());
}

TEST(BorrowedNodes, CreateIsInDoubtUntilItIsAnswered) {
  BorrowedNodes nodes(true);
  nodes.begun(queue_spec("g"));
  const auto leftovers = nodes.take();
  EXPECT_TRUE(leftovers.nodes.empty());
  ASSERT_EQ(leftovers.in_doubt.size(), 1u);
  EXPECT_EQ(leftovers.in_doubt.front().parent, "/locks");
  EXPECT_EQ(leftovers.in_doubt.front().guid, "g");
  EXPECT_TRUE(nodes.take().empty()) << "taken once";
}

TEST(BorrowedNodes, CreatedNodeIsKnownByItsPath) {
  BorrowedNodes nodes(true);
  nodes.begun(queue_spec("g"));
  nodes.created(queue_spec("g"), node("/locks/_c_g-lock-1", 1));
  const auto leftovers = nodes.take();
  EXPECT_TRUE(leftovers.in_doubt.empty());
  ASSERT_EQ(leftovers.nodes.size(), 1u);
  EXPECT_EQ(leftovers.nodes.front().path, "/locks/_c_g-lock-1");
  EXPECT_EQ(leftovers.nodes.front().czxid, 0);
}

TEST(BorrowedNodes, RefusedCreateAndRemovedNodeAreForgotten) {
  BorrowedNodes nodes(true);
  nodes.begun(queue_spec("g"));
  nodes.not_created(queue_spec("g"));
  nodes.begun(queue_spec("h"));
  nodes.created(queue_spec("h"), node("/locks/h", 1));
  nodes.removed("/locks/h", 0);
  EXPECT_TRUE(nodes.take().empty());
}

TEST(BorrowedNodes, LateRemovalOfAnEarlierNodeDoesNotForgetTheNextOneOfTheSameName) {
  BorrowedNodes nodes(true);
  nodes.begun(fixed_spec("first"));
  nodes.created(fixed_spec("first"), node("/locks/owner", 1));
  nodes.begun(fixed_spec("second"));
  nodes.created(fixed_spec("second"), node("/locks/owner", 2));
  nodes.removed("/locks/owner", 1);
  const auto leftovers = nodes.take();
  ASSERT_EQ(leftovers.nodes.size(), 1u);
  EXPECT_EQ(leftovers.nodes.front().czxid, 2);
}

TEST(BorrowedNodes, NodesThatAreMeantToStayAreNotRemembered) {
  BorrowedNodes nodes(true);
  CreateSpec spec = fixed_spec("g");
  spec.mode = CreateMode::persistent;
  nodes.begun(spec);
  nodes.created(spec, node("/locks/owner", 1));
  EXPECT_TRUE(nodes.take().empty());
}

}  // namespace
}  // namespace zkrecipes::detail
