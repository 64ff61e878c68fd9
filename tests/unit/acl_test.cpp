// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <stdexcept>

#include "zkrecipes/connection_options.h"

namespace zkrecipes {
namespace {

TEST(Acl, IsOpenByDefault) {
  for (const Acl& acl : {Acl(), Acl::open()}) {
    ASSERT_EQ(acl.entries().size(), 1u);
    EXPECT_EQ(acl.entries().front().permissions, Acl::kAll);
    EXPECT_EQ(acl.entries().front().scheme, "world");
    EXPECT_EQ(acl.entries().front().id, "anyone");
  }
}

TEST(Acl, CreatorAllIsForTheCredentialsOfTheConnection) {
  const Acl acl = Acl::creator_all();
  ASSERT_EQ(acl.entries().size(), 1u);
  EXPECT_EQ(acl.entries().front().permissions, Acl::kAll);
  EXPECT_EQ(acl.entries().front().scheme, "auth");
}

TEST(Acl, EntriesAreKeptInOrder) {
  const Acl acl({{Acl::kRead, "world", "anyone"}, {Acl::kAll, "digest", "user:hash"}});
  ASSERT_EQ(acl.entries().size(), 2u);
  EXPECT_EQ(acl.entries()[1].id, "user:hash");
}

TEST(Acl, BadEntriesAreRefused) {
  EXPECT_THROW(Acl(std::vector<Acl::Entry>{}), std::invalid_argument);
  EXPECT_THROW(Acl({{Acl::kAll, "", "id"}}), std::invalid_argument);
  EXPECT_THROW(Acl({{0, "world", "anyone"}}), std::invalid_argument);
  EXPECT_THROW(Acl({{32, "world", "anyone"}}), std::invalid_argument);
  EXPECT_THROW(Acl({{-1, "world", "anyone"}}), std::invalid_argument);
}

}  // namespace
}  // namespace zkrecipes
