// SPDX-License-Identifier: Apache-2.0
#include "recipes/node_name.h"

#include <gtest/gtest.h>

namespace zkrecipes::detail {
namespace {

constexpr const char* kUuid = "0f8fad5b-d9cb-469f-a165-70867728950e";
constexpr const char* kHex = "0f8fad5bd9cb469fa16570867728950e";

void expect_parsed(const std::string& name, NodeKind kind, std::int64_t sequence, const std::string& digits) {
  SCOPED_TRACE(name);
  const auto parsed = parse_node_name(name);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->name, name);
  EXPECT_EQ(parsed->kind, kind);
  EXPECT_EQ(parsed->sequence, sequence);
  EXPECT_EQ(parsed->digits, digits);
}

TEST(NodeNameTest, ProtectedNames_AreCurators) {
  const std::string prefix = std::string("_c_") + kUuid + "-";
  EXPECT_EQ(protected_name(kUuid, NodeKind::lock), prefix + "lock-");
  EXPECT_EQ(protected_name(kUuid, NodeKind::read), prefix + "__READ__");
  EXPECT_EQ(protected_name(kUuid, NodeKind::write), prefix + "__WRIT__");
  EXPECT_EQ(protected_name(kUuid, NodeKind::lease), prefix + "lease-");
}

TEST(NodeNameTest, AProtectedName_IsKnownByItsWholeGuidOnly) {
  const std::string name = protected_name(kUuid, NodeKind::lock) + "0000000042";
  EXPECT_TRUE(is_protected_by(name, kUuid));
  EXPECT_FALSE(is_protected_by(name, std::string(kUuid).substr(0, 35)));
  EXPECT_FALSE(is_protected_by(name, std::string(kUuid).substr(1)));
  EXPECT_FALSE(is_protected_by(std::string(kUuid) + "-lock-0000000042", kUuid));
  EXPECT_FALSE(is_protected_by(std::string("_c_") + kUuid, kUuid));
  EXPECT_FALSE(is_protected_by("", kUuid));
}

TEST(NodeNameTest, OwnNames_AreReadBack) {
  for (const NodeKind kind : {NodeKind::lock, NodeKind::read, NodeKind::write, NodeKind::lease})
    expect_parsed(protected_name(kUuid, kind) + "0000000042", kind, 42, "0000000042");
}

TEST(NodeNameTest, Peers_AreUnderstood) {
  expect_parsed(std::string("_c_") + kUuid + "-lock-0000000007", NodeKind::lock, 7, "0000000007");  // Curator
  expect_parsed(std::string("_c_") + kHex + "-lock-0000000007", NodeKind::lock, 7, "0000000007");   // go-zookeeper
  expect_parsed(std::string(kHex) + "__lock__0000000007", NodeKind::lock, 7, "0000000007");         // kazoo
  expect_parsed(std::string(kHex) + "-lock-0000000007", NodeKind::lock, 7, "0000000007");           // kazoo subclass
  expect_parsed("x-72057594037927936-0000000007", NodeKind::lock, 7, "0000000007");  // zookeeper-recipes-lock, Java
  expect_parsed("x-0100000000000abc-0000000007", NodeKind::lock, 7, "0000000007");   // the same, C
  expect_parsed("lock-0000000007", NodeKind::lock, 7, "0000000007");                 // Curator without protection
}

TEST(NodeNameTest, TheLargestSequence_IsFine) {
  expect_parsed(std::string("_c_") + kUuid + "-lock-2147483647", NodeKind::lock, 2147483647, "2147483647");
}

TEST(NodeNameTest, AnOverflownSequence_IsNegative) {
  expect_parsed(std::string("_c_") + kUuid + "-lock--2147483648", NodeKind::lock, -2147483648LL, "-2147483648");
  expect_parsed(std::string("_c_") + kUuid + "-__WRIT__-2147483647", NodeKind::write, -2147483647LL, "-2147483647");
  expect_parsed(std::string("_c_") + kUuid + "-lock--000000001", NodeKind::lock, -1, "-000000001");
  expect_parsed(std::string(kHex) + "__lock__-2147483648", NodeKind::lock, -2147483648LL, "-2147483648");
}

TEST(NodeNameTest, AnOverflownSequenceOfZookeepersOwnRecipe_IsNegative) {
  expect_parsed("x-72057594037927936--2147483648", NodeKind::lock, -2147483648LL, "-2147483648");
}

TEST(NodeNameTest, TheLastMarkerCounts) {
  expect_parsed("lock-lock-0000000001", NodeKind::lock, 1, "0000000001");
  expect_parsed("lock-0000000009-lock-0000000001", NodeKind::lock, 1, "0000000001");
  expect_parsed("__READ__0000000009__WRIT__0000000001", NodeKind::write, 1, "0000000001");
}

TEST(NodeNameTest, ForeignNames_AreNoContenders) {
  for (const char* name : {"", "config", "lock-", "lock-12345", "lock-12345678901", "lock-00000000x1", "leases",
                           "locks", "x-1", "x-0000000001", "x-1-00000000x1", "lock-+000000001", "lock--",
                           "lock- 000000001", "0000000001", "__READ__", "lock-0000000001-old", "y-1-0000000001"})
    EXPECT_FALSE(parse_node_name(name)) << name;
}

TEST(NodeName, TheGuidsOfSeveralNodes_DifferInTheirLastGroup) {
  const std::string guid = "00000000-0000-4000-8000-0000000000fe";
  EXPECT_EQ(nth_guid(guid, 0), guid);
  EXPECT_EQ(nth_guid(guid, 1), "00000000-0000-4000-8000-0000000000ff");
  EXPECT_EQ(nth_guid(guid, 2), "00000000-0000-4000-8000-000000000100");
  EXPECT_EQ(nth_guid("00000000-0000-4000-8000-ffffffffffff", 2), "00000000-0000-4000-8000-000000000001");
}

TEST(NodeNameTest, TheNodesOfOneAttempt_BeginAlike) {
  const std::string guid = "12345678-1234-4123-8123-ffffffffffff";
  const std::string line = protected_name(guid, NodeKind::lock) + "0000000007";
  const std::string lease = protected_name(nth_guid(guid, 1), NodeKind::lease) + "0000000009";
  EXPECT_EQ(attempt_in(line), "_c_12345678-1234-4123-8123-");
  EXPECT_EQ(attempt_in(lease), attempt_in(line));
  for (const char* name : {"", "_c_", "lock-0000000001", "0f8fad5bd9cb469fa16570867728950e-lock-0000000000",
                           "_c_12345678-1234-4123-8123-ffffffffffff"})
    EXPECT_EQ(attempt_in(name), "") << name;
}

}  // namespace
}  // namespace zkrecipes::detail
