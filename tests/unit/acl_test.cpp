// SPDX-License-Identifier: Apache-2.0
#include "connection/acl.h"

#include <gtest/gtest.h>
#include <memory>
#include <stdexcept>
#include <utility>

#include "connection/requests.h"
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
  EXPECT_THROW(Acl({{Acl::kAll, "world", ""}}), std::invalid_argument);
  EXPECT_THROW(Acl({{Acl::kAll, "digest", "user"}}), std::invalid_argument);
  EXPECT_THROW(Acl({{Acl::kAll, std::string("ip\0", 3), "127.0.0.1"}}), std::invalid_argument);
  EXPECT_THROW(Acl({{Acl::kAll, "ip", std::string("127.0.0.1\0", 10)}}), std::invalid_argument);
  EXPECT_THROW(Acl({{Acl::kAll, "world", "anyone"}, {0, "digest", "user:hash"}}), std::invalid_argument);
}

TEST(Acl, ForTheCreatorNeedsCredentialsOrACertificate) {
  ConnectionOptions options;
  EXPECT_FALSE(detail::authenticates(options));
  EXPECT_THROW(detail::check_acl(Acl::creator_all(), "acl", false), std::invalid_argument);
  EXPECT_THROW(detail::check_acl(Acl({{Acl::kRead, "world", "anyone"}, {Acl::kAll, "auth", ""}}), "acl", false),
               std::invalid_argument);
  EXPECT_NO_THROW(detail::check_acl(Acl(), "acl", false));
  EXPECT_NO_THROW(detail::check_acl(Acl::creator_all(), "acl", true));
  options.tls.emplace();
  EXPECT_TRUE(detail::authenticates(options));
  options.tls.reset();
  options.credentials = {{"digest", "user:password"}};
  EXPECT_TRUE(detail::authenticates(options));
}

TEST(Acl, ThatWasMovedFromIsRefused) {
  Acl acl;
  const Acl taken = std::move(acl);
  EXPECT_THROW(detail::check_acl(acl, "acl", true), std::invalid_argument);  // NOLINT(bugprone-use-after-move)
}

TEST(Acl, CountsInTheSizeOfARequest) {
  detail::Request request{detail::RequestKind::create, "/a", "data"};
  EXPECT_EQ(detail::bytes(request), 6u);
  request.acl = std::make_shared<const Acl>();
  EXPECT_EQ(detail::bytes(request), 6u + std::string("worldanyone").size());
}

}  // namespace
}  // namespace zkrecipes
