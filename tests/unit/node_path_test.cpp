// SPDX-License-Identifier: Apache-2.0
#include "connection/node_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>

namespace zkrecipes::detail {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string complaint_about(const std::string& path) {
  try {
    check_node_path(path);
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), HasSubstr(path)) << "the path is named";
    return error.what();
  }
  return "no complaint";
}

TEST(NodePath, AbsolutePathsAreAccepted) {
  for (const char* path :
       {"/", "/a", "/a/b/c", "/with space/and.dots/..x", "/a-b_c:d", "/\xc3\xbc", "/\xe9\x8e\x96/\xe2\x82\xac"})
    EXPECT_EQ(complaint_about(path), "no complaint") << path;
}

TEST(NodePath, TooLongOnesAreRefusedWithTheLimit) {
  const std::string longest = "/" + std::string(32 * 1024 - 1, 'x');
  EXPECT_NO_THROW(check_node_path(longest));
  try {
    check_node_path(longest + "x");
    FAIL() << "accepted";
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), HasSubstr("32768 bytes"));
    EXPECT_LT(std::string(error.what()).size(), 300u) << "the message does not repeat all of it";
  }
}

TEST(NodePath, EachFaultIsNamed) {
  EXPECT_THAT(complaint_about(""), HasSubstr("empty"));
  EXPECT_THAT(complaint_about("a/b"), HasSubstr("relative"));
  EXPECT_THAT(complaint_about("/a/"), HasSubstr("end with"));
  EXPECT_THAT(complaint_about("//"), HasSubstr("end with"));
  EXPECT_THAT(complaint_about("/a//b"), HasSubstr("empty part"));
  EXPECT_THAT(complaint_about("/a/./b"), HasSubstr("relative part"));
  EXPECT_THAT(complaint_about("/.."), HasSubstr("relative part"));
  EXPECT_THAT(complaint_about("/a\tb"), HasSubstr("control character"));
  EXPECT_THAT(complaint_about("/a\x7f"), HasSubstr("control character"));
}

TEST(NodePath, NulInTheMiddleIsFound) {
  EXPECT_THROW(check_node_path(std::string("/a\0b", 4)), std::invalid_argument);
}

TEST(NodePath, CharactersThatTheServerRefusesAreFoundBeforeItIsAsked) {
  EXPECT_THAT(complaint_about("/a\xc2\x85"), HasSubstr("control character")) << "U+0085";
  EXPECT_THAT(complaint_about("/a\xee\x80\x80"), HasSubstr("ZooKeeper")) << "U+E000, private use";
  EXPECT_THAT(complaint_about("/a\xef\xbf\xbd"), HasSubstr("ZooKeeper")) << "U+FFFD, the replacement character";
  EXPECT_THAT(complaint_about("/a\xf0\x9f\x94\x92"), HasSubstr("ZooKeeper")) << "U+1F512, beyond the first plane";
  for (const char* path : {"/a\xff", "/a\xc3", "/a\xc3/b", "/\xe2\x82", "/\xc0\xaf", "/\xed\xa0\x80", "/\x80"})
    EXPECT_THAT(complaint_about(path), HasSubstr("UTF-8"));
}

TEST(NodePath, IsTakenApartAndPutTogether) {
  EXPECT_EQ(parent_of("/a/b"), "/a");
  EXPECT_EQ(parent_of("/a"), "/");
  EXPECT_EQ(name_of("/a/b"), "b");
  EXPECT_EQ(join("/a", "b"), "/a/b");
  EXPECT_EQ(join("/", "b"), "/b");
  EXPECT_THAT(with_ancestors("/a/b/c"), ElementsAre("/a", "/a/b", "/a/b/c"));
  EXPECT_THAT(with_ancestors("/a"), ElementsAre("/a"));
  EXPECT_THAT(with_ancestors("/"), IsEmpty());
}

}  // namespace
}  // namespace zkrecipes::detail
