// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/fencing_token.h"

#include <gtest/gtest.h>
#include <limits>
#include <sstream>
#include <unordered_set>

namespace zkrecipes {
namespace {

constexpr std::int64_t kMaxZxid = std::numeric_limits<std::int64_t>::max();
constexpr std::int32_t kMaxVersion = std::numeric_limits<std::int32_t>::max();

TEST(FencingTokenTest, WhatIsPrinted_IsParsedBack) {
  for (const FencingToken& token : {FencingToken{}, FencingToken{1, 0}, FencingToken{0x100000007, 0},
                                    FencingToken{12, 34}, FencingToken{kMaxZxid, kMaxVersion}}) {
    const auto parsed = FencingToken::parse(token.to_string());
    ASSERT_TRUE(parsed) << token;
    EXPECT_EQ(parsed->zxid, token.zxid);
    EXPECT_EQ(parsed->version, token.version);
  }
}

TEST(FencingTokenTest, Printing_IsDecimalWithTheVersionOnlyWhenThereIsOne) {
  EXPECT_EQ((FencingToken{4294967303, 0}).to_string(), "4294967303");
  EXPECT_EQ((FencingToken{4294967303, 5}).to_string(), "4294967303.5");
  std::ostringstream out;
  out << FencingToken{7, 8};
  EXPECT_EQ(out.str(), "7.8");
}

TEST(FencingTokenTest, Parsing_TakesNothingElse) {
  for (const char* text : {"",
                           " ",
                           "x",
                           "-1",
                           "+1",
                           "01",
                           "1.",
                           ".1",
                           "1.0",
                           "1.01",
                           "1.-2",
                           "1.2.3",
                           "1 ",
                           " 1",
                           "1,2",
                           "0x10",
                           "9223372036854775808",
                           "1.2147483648",
                           "1e3",
                           "1\n"})
    EXPECT_FALSE(FencingToken::parse(text)) << '"' << text << '"';
  EXPECT_FALSE(FencingToken::parse(std::string("1\0", 2)));
}

TEST(FencingTokenTest, Order_IsThatOfTheZxid) {
  const FencingToken older{1, 0}, newer{2, 0};
  EXPECT_TRUE(older < newer);
  EXPECT_TRUE(older <= newer);
  EXPECT_TRUE(newer > older);
  EXPECT_TRUE(newer >= older);
  EXPECT_TRUE(older != newer);
  EXPECT_FALSE(older == newer);
  EXPECT_TRUE(older >= older);
  EXPECT_TRUE(older <= older);
}

TEST(FencingTokenTest, EqualTokens_HaveOneHash) {
  std::unordered_set<FencingToken> tokens{{1, 0}, {2, 0}, {1, 0}};
  EXPECT_EQ(tokens.size(), 2U);
  EXPECT_EQ(std::hash<FencingToken>{}({7, 1}), std::hash<FencingToken>{}({7, 1}));
}

}  // namespace
}  // namespace zkrecipes
