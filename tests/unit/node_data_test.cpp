// SPDX-License-Identifier: Apache-2.0
#include "recipes/node_data.h"

#include <gtest/gtest.h>

#include "connection/guid.h"

namespace zkrecipes::recipes {
namespace {

TEST(NodeDataTest, ARevocation_KeepsTheGuidAndIsUnderstoodTwice) {
  const std::string guid = connection::make_guid();
  const std::string data = data_with_guid("host:1", guid);
  EXPECT_EQ(identity_in(data), "host:1");
  EXPECT_FALSE(asks_to_revoke(data));
  const std::string revoked = revoke_request_for(data);
  EXPECT_EQ(revoked, "__REVOKE__\n" + guid);
  EXPECT_TRUE(asks_to_revoke(revoked));
  EXPECT_EQ(identity_in(revoked), "");
  EXPECT_EQ(revoke_request_for(revoked), revoked);
}

TEST(NodeDataTest, ARevocation_KeepsTheTokenOfADowngradedReader) {
  for (const FencingToken token : {FencingToken{4294967296, 0}, FencingToken{4294967296, 7}}) {
    const std::string data = data_with_token("host:1", token);
    EXPECT_EQ(identity_in(data), "host:1");
    EXPECT_EQ(token_in(data), token);
    EXPECT_EQ(token_in(revoke_request_for(data)), token);
    EXPECT_TRUE(asks_to_revoke(revoke_request_for(data)));
  }
}

TEST(NodeDataTest, ANodeWithoutALineForPrograms_GetsExactlyWhatCuratorExpects) {
  for (const char* data : {"", "host:1", "192.168.0.1", "two\nlines", "x\ntoken=", "x\ntoken=-1", "x\ntoken=12x",
                           "x\ntoken=99999999999999999999", "token=1", "x\n6ba7b810-9dad-11d1-80b4-00c04fd430c",
                           "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "__REVOKE__"}) {
    EXPECT_EQ(revoke_request_for(data), "__REVOKE__") << data;
    EXPECT_EQ(token_in(data), std::nullopt) << data;
  }
}

TEST(NodeDataTest, ARequest_IsAWholeLine) {
  EXPECT_TRUE(asks_to_revoke("__REVOKE__"));
  EXPECT_FALSE(asks_to_revoke("__REVOKE__ please"));
  EXPECT_FALSE(asks_to_revoke("me\n__REVOKE__"));
  EXPECT_FALSE(asks_to_revoke(""));
}

TEST(NodeDataTest, AnIdentityOfSeveralLines_DoesNotHideTheGuid) {
  const std::string guid = connection::make_guid();
  EXPECT_EQ(revoke_request_for(data_with_guid("host\nsecond", guid)), "__REVOKE__\n" + guid);
  EXPECT_EQ(identity_in("host\nsecond"), "host");
}

}  // namespace
}  // namespace zkrecipes::recipes
