// SPDX-License-Identifier: Apache-2.0
#include "recipes/node_data.h"

#include <gtest/gtest.h>
#include <random>
#include <vector>

#include "connection/guid.h"

namespace zkrecipes::detail {
namespace {

TEST(NodeDataTest, ARevocation_KeepsTheGuidAndIsUnderstoodTwice) {
  const std::string guid = make_guid();
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

TEST(NodeDataTest, OfSeveralLinesOfAPeer_TheFirstIsTheIdentity) {
  EXPECT_EQ(identity_in("host\nsecond"), "host");
  EXPECT_EQ(note_in("host\nsecond"), "");
  EXPECT_EQ(note_in("host\nsecond\nnote=third"), "");
  EXPECT_EQ(note_in("note=first"), "");
  EXPECT_EQ(note_in("192.168.0.1"), "");
  EXPECT_EQ(note_in(""), "");
}

TEST(NodeDataTest, WithoutANote_TheDataAreTheIdentity) {
  EXPECT_EQ(data_for_people("host:1", ""), "host:1");
  EXPECT_EQ(data_for_people("host:1", "backup"), "host:1\nnote=backup");
}

TEST(NodeDataTest, ANoteOfSeveralLines_IsOneLine) {
  EXPECT_EQ(data_for_people("host:1", "one\ntwo \\n\n"), "host:1\nnote=one\\ntwo \\\\n\\n");
}

TEST(NodeDataTest, EscapesThatAreNotOurs_AreLeftAlone) {
  EXPECT_EQ(note_in("peer\nnote=C:\\temp\\"), "C:\\temp\\");
}

/// Text from the pieces that mean something in the data of nodes.
std::string draw_text(std::mt19937& random, bool one_line) {
  static const std::vector<std::string> kPieces = {"",       "a",
                                                   "host:1", "\\",
                                                   "\\n",    "note=",
                                                   "token=", "token=7",
                                                   "12345",  "__REVOKE__",
                                                   "\r",     std::string(1, '\0'),
                                                   "\xff",   "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
                                                   "\n"};
  std::string text;
  for (auto n = random() % 6; n > 0; --n) text += kPieces[random() % (kPieces.size() - (one_line ? 1 : 0))];
  return text;
}

TEST(NodeDataTest, IdentityNoteAndLineForPrograms_AreReadAsTheyWereWritten) {
  std::mt19937 random(20);
  const std::string guid = "0f8fad5b-d9cb-469f-a165-70867728950e";
  const FencingToken token{4294967296, 7};
  for (int n = 0; n < 20'000; ++n) {
    const std::string identity = draw_text(random, true);
    const std::string note = draw_text(random, false);
    if (identity == "__REVOKE__") continue;  // refused by Connection
    const std::string plain = data_for_people(identity, note);
    const std::string with_guid = data_with_guid(plain, guid);
    const std::string with_token = data_with_token(plain, token);
    for (const std::string& data : {plain, with_guid, with_token}) {
      ASSERT_EQ(identity_in(data), identity) << data;
      ASSERT_EQ(note_in(data), note) << data;
      ASSERT_FALSE(asks_to_revoke(data)) << data;
      ASSERT_TRUE(asks_to_revoke(revoke_request_for(data))) << data;
      ASSERT_EQ(note_in(revoke_request_for(data)), "") << data;
    }
    ASSERT_EQ(token_in(plain), std::nullopt) << "a note is no token: " << plain;
    ASSERT_EQ(token_in(with_guid), std::nullopt) << with_guid;
    ASSERT_EQ(token_in(with_token), token) << with_token;
    ASSERT_EQ(revoke_request_for(plain), "__REVOKE__") << "a note is no line for programs: " << plain;
    ASSERT_EQ(revoke_request_for(with_guid), "__REVOKE__\n" + guid) << with_guid;
    ASSERT_EQ(token_in(revoke_request_for(with_token)), token) << with_token;
  }
}

}  // namespace
}  // namespace zkrecipes::detail
