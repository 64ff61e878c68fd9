// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <type_traits>

namespace zkrecipes {
namespace {

using ::testing::HasSubstr;

TEST(Error, CarriesItsCodeAndItsMessage) {
  const Error error(ErrorCode::session_lost, "the session of /locks/a is over");
  EXPECT_EQ(error.code(), ErrorCode::session_lost);
  EXPECT_THAT(error.what(), HasSubstr("zkrecipes: the session of /locks/a is over"));
  EXPECT_THAT(error.what(), HasSubstr("session lost"));
}

TEST(Error, LeafTypesHaveTheirOwnCodes) {
  EXPECT_EQ(ConnectionClosed("x").code(), ErrorCode::connection_closed);
  EXPECT_EQ(Cancelled("x").code(), ErrorCode::cancelled);
  EXPECT_EQ(NotAuthorized("x").code(), ErrorCode::not_authorized);
}

TEST(Error, EveryLeafIsCaughtAsErrorAndAsSystemError) {
  EXPECT_THROW(throw ConnectionClosed("x"), Error);
  EXPECT_THROW(throw Cancelled("x"), std::system_error);
  EXPECT_THROW(throw NotAuthorized("x"), std::exception);
}

TEST(Error, EachCodeHasWordsOfItsOwn) {
  std::set<std::string> words;
  for (int code = 1; code <= static_cast<int>(ErrorCode::rejected); ++code)
    words.insert(make_error_code(static_cast<ErrorCode>(code)).message());
  EXPECT_EQ(words.size(), static_cast<std::size_t>(ErrorCode::rejected));
  EXPECT_EQ(words.count("unknown error"), 0u);
  EXPECT_EQ(std::error_code(12345, error_category()).message(), "unknown error");
  EXPECT_STREQ(error_category().name(), "zkrecipes");
}

}  // namespace
}  // namespace zkrecipes
