// SPDX-License-Identifier: Apache-2.0
#include "connection/node_claims.h"

#include <gtest/gtest.h>

namespace zkrecipes::detail {
namespace {

TEST(NodeClaims, ANode_IsClaimedOnce) {
  NodeClaims claims;
  EXPECT_TRUE(claims.claim("/a", 7));
  EXPECT_FALSE(claims.claim("/a", 7));
  EXPECT_FALSE(claims.claim("/a", 6)) << "gone";
  EXPECT_TRUE(claims.claim("/a", 8));
  EXPECT_TRUE(claims.claim("/b", 1));
}

TEST(NodeClaims, ANodeThatWasJustRemoved_IsNotClaimedAgain) {
  NodeClaims claims;
  EXPECT_TRUE(claims.claim("/a", 7));
  claims.removed("/a", 7);
  EXPECT_FALSE(claims.claim("/a", 7)) << "read before it was removed";
  EXPECT_TRUE(claims.claim("/a", 8));
}

TEST(NodeClaims, PathsWhoseNodesAreGone_DoNotPileUp) {
  NodeClaims claims;
  for (int n = 0; n < 5000; ++n) {
    const std::string path = "/" + std::to_string(n);
    EXPECT_TRUE(claims.claim(path, n + 1));
    claims.removed(path, n + 1);
  }
  EXPECT_LE(claims.size(), NodeClaims::kRemoved);
}

TEST(NodeClaims, APathThatIsUsedAgainAndAgain_KeepsItsNewestClaim) {
  NodeClaims claims;
  for (int n = 1; n <= 5000; ++n) {
    EXPECT_TRUE(claims.claim("/a", n));
    claims.removed("/a", n);
    EXPECT_FALSE(claims.claim("/a", n));
  }
  EXPECT_EQ(claims.size(), 1u);
}

}  // namespace
}  // namespace zkrecipes::detail
