// SPDX-License-Identifier: Apache-2.0
// The code of docs/security.md, run.
#include <stdexcept>
#include <zookeeper/zookeeper.h>

#include "tests/docs/docs_test.h"

namespace zkrecipes::testing {
namespace {

class SecurityDocs : public DocsTest {
 protected:
  static constexpr const char* kOwner = "orders:secret";

  void SetUp() override {
    DocsTest::SetUp();
    // It tidies up behind the test, and only the owner may.
    if (!IsSkipped()) zoo_add_auth(plain().handle(), "digest", kOwner, 13, nullptr, nullptr);
  }
  ConnectionOptions with(const std::string& secret) const {
    ConnectionOptions result = options();
    if (!secret.empty()) result.credentials = {{"digest", secret}};
    return result;
  }
};

TEST_F(SecurityDocs, OthersAreRefused) {
  const std::string password = "secret";
#include <docs/security_1.inc>
  const Hold hold = mutex.acquire();
  for (const char* other : {"", "orders:guess"}) {
    Connection& stranger = connect(with(other));
    EXPECT_THROW(static_cast<void>(FairMutex(stranger, "/orders/locks/import").acquire()), NotAuthorized);
    EXPECT_THROW(static_cast<void>(FairMutex(stranger, "/orders/another").acquire()), NotAuthorized);
  }
  EXPECT_TRUE(hold.is_valid());
}

TEST_F(SecurityDocs, AnotherUserIsLetIn) {
  ConnectionOptions options = with(kOwner);
#include <docs/security_2.inc>
  FairMutex mutex(connect(options), kPath);
  Hold hold = mutex.acquire();
  FairMutex same(connect(with("billing:secret")), kPath);
  EXPECT_FALSE(same.try_acquire());
  hold.release();
  EXPECT_TRUE(same.try_acquire());
  Connection& stranger = connect();
  EXPECT_TRUE(contenders(stranger, kPath).empty());
  EXPECT_THROW(static_cast<void>(FairMutex(stranger, kPath).acquire()), NotAuthorized);
}

TEST_F(SecurityDocs, TlsIsRefusedIfTheCClientLacksIt) {
  ConnectionOptions options;
  const std::string key_password = "secret";
#include <docs/security_3.inc>
  try {
    const Connection connection(options);
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("TLS"));
  }
}

}  // namespace
}  // namespace zkrecipes::testing
