// SPDX-License-Identifier: Apache-2.0
#include "connection/zookeeper_errors.h"

#include <gtest/gtest.h>
#include <set>
#include <string>
#include <zookeeper/zookeeper.h>

namespace zkrecipes::detail {
namespace {

TEST(ZookeeperErrors, WhateverLeavesTheOutcomeUnknownIsAConnectionLoss) {
  for (const int rc : {ZCONNECTIONLOSS, ZOPERATIONTIMEOUT, ZRUNTIMEINCONSISTENCY, ZSYSTEMERROR, ZMARSHALLINGERROR,
                       ZINVALIDSTATE, ZSESSIONEXPIRED, ZCLOSING, ZSESSIONMOVED}) {
    EXPECT_EQ(status_of(rc), Status::connection_loss) << zerror(rc);
    EXPECT_FALSE(is_answer(rc)) << zerror(rc);
  }
}

TEST(ZookeeperErrors, AnswersOfTheServerProveTheSession) {
  const std::pair<int, Status> answers[] = {{ZOK, Status::ok},
                                            {ZNONODE, Status::no_node},
                                            {ZNODEEXISTS, Status::node_exists},
                                            {ZNOTEMPTY, Status::not_empty},
                                            {ZBADVERSION, Status::bad_version},
                                            {ZNOCHILDRENFOREPHEMERALS, Status::no_children_for_ephemerals},
                                            {ZNOAUTH, Status::not_authorized},
                                            {ZINVALIDACL, Status::invalid}};
  for (const auto& [rc, status] : answers) {
    EXPECT_EQ(status_of(rc), status) << zerror(rc);
    EXPECT_TRUE(is_answer(rc)) << zerror(rc);
  }
}

TEST(ZookeeperErrors, WhatTheClientSaysByItselfProvesNothing) {
  for (const int rc : {ZBADARGUMENTS, ZAUTHFAILED, ZUNIMPLEMENTED, ZNOWATCHER, ZINVALIDCALLBACK})
    EXPECT_FALSE(is_answer(rc)) << zerror(rc);
}

TEST(ZookeeperErrors, RefusedCredentialsAreNotAuthorized) {
  EXPECT_EQ(status_of(ZAUTHFAILED), Status::not_authorized);
}

TEST(ZookeeperErrors, UnknownCodesAreFinalRefusals) {
  EXPECT_EQ(status_of(-9999), Status::rejected);
  EXPECT_FALSE(is_answer(-9999));
}

TEST(ZookeeperErrors, EachStatusHasWordsOfItsOwn) {
  std::set<std::string> words;
  int statuses = 0;
  for (int n = 0; n <= static_cast<int>(Status::closed); ++n, ++statuses)
    words.insert(to_string(static_cast<Status>(n)));
  EXPECT_EQ(words.size(), static_cast<std::size_t>(statuses));
  EXPECT_EQ(words.count("unknown"), 0u);
}

}  // namespace
}  // namespace zkrecipes::detail
