// SPDX-License-Identifier: Apache-2.0
#include "connection/name_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zkrecipes::detail {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> texts(const NameList& names) {
  return {names.begin(), names.end()};
}

TEST(NameListTest, WithoutNames_IsEmpty) {
  for (const NameList& names : {NameList(), NameList(nullptr, 0)}) {
    EXPECT_TRUE(names.empty());
    EXPECT_EQ(names.begin(), names.end());
    EXPECT_FALSE(names.contains(""));
  }
}

TEST(NameListTest, Names_KeepTheirOrder) {
  const char* const raw[] = {"b", "a much longer name than the first", "", "c"};
  const NameList names(raw, 4);
  EXPECT_EQ(names.size(), 4u);
  EXPECT_THAT(texts(names), ElementsAre("b", "a much longer name than the first", "", "c"));
}

TEST(NameListTest, Contains_MeansTheWholeName) {
  const NameList names{"lock-1", "lock-22"};
  EXPECT_TRUE(names.contains("lock-22"));
  EXPECT_FALSE(names.contains("lock-2"));
  EXPECT_FALSE(names.contains("ock-1"));
}

TEST(NameListTest, ACopy_IsItsOwn) {
  NameList first{"one"};
  const NameList second = first;
  first = NameList{"two", "three"};
  EXPECT_THAT(texts(second), ElementsAre("one"));
  const NameList moved = std::move(first);
  EXPECT_THAT(texts(moved), ElementsAre("two", "three"));
}

}  // namespace
}  // namespace zkrecipes::detail
