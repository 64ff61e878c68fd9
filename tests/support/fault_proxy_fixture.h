// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <future>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <zookeeper/zookeeper.h>

#include "tests/support/fault_proxy.h"
#include "tests/support/test_server.h"

namespace zkrecipes::testing {

constexpr std::chrono::milliseconds kProxyLimit{30'000};

/// A session of the C client, whose answers are futures.
class FutureClient {
 public:
  explicit FutureClient(const std::string& address)
      : handle_(zookeeper_init(address.c_str(), nullptr, 10'000, nullptr, nullptr, 0)) {}
  ~FutureClient() { zookeeper_close(handle_); }
  FutureClient(const FutureClient&) = delete;
  FutureClient& operator=(const FutureClient&) = delete;

  std::future<int> create(const std::string& path, const std::string& data = "", int mode = ZOO_PERSISTENT) {
    auto* const done = new std::promise<int>;
    std::future<int> result = done->get_future();
    const int sent = zoo_acreate(
        handle_, path.c_str(), data.data(), static_cast<int>(data.size()), &ZOO_OPEN_ACL_UNSAFE, mode,
        [](int code, const char*, const void* promise) { finish(code, promise); }, done);
    if (sent != ZOK) finish(sent, done);
    return result;
  }

  std::future<int> list(const std::string& path) {
    auto* const done = new std::promise<int>;
    std::future<int> result = done->get_future();
    const int sent = zoo_aget_children(
        handle_, path.c_str(), 0, [](int code, const String_vector*, const void* promise) { finish(code, promise); },
        done);
    if (sent != ZOK) finish(sent, done);
    return result;
  }

  std::future<int> exists(const std::string& path, watcher_fn watcher = nullptr, void* context = nullptr) {
    auto* const done = new std::promise<int>;
    std::future<int> result = done->get_future();
    const int sent = zoo_awexists(
        handle_, path.c_str(), watcher, context,
        [](int code, const Stat*, const void* promise) { finish(code, promise); }, done);
    if (sent != ZOK) finish(sent, done);
    return result;
  }

  /// The number of children, or the negative code of the failure.
  int children(const std::string& path) {
    String_vector names{};
    const int code = zoo_get_children(handle_, path.c_str(), 0, &names);
    const int count = names.count;
    deallocate_String_vector(&names);
    return code == ZOK ? count : code;
  }

  std::string data(const std::string& path) {
    std::string bytes(100'000, '\0');
    int length = static_cast<int>(bytes.size());
    const int code = zoo_get(handle_, path.c_str(), 0, bytes.data(), &length, nullptr);
    bytes.resize(code == ZOK && length > 0 ? static_cast<std::size_t>(length) : 0);
    return bytes;
  }

  /// Asks again while the client reconnects.
  int exists_in_the_end(const std::string& path) {
    const auto limit = std::chrono::steady_clock::now() + kProxyLimit;
    int code = ZCONNECTIONLOSS;
    while (code == ZCONNECTIONLOSS && std::chrono::steady_clock::now() < limit) {
      code = exists(path).get();
    }
    return code;
  }

  std::int64_t session_id() const { return zoo_client_id(handle_)->client_id; }

 private:
  static void finish(int code, const void* promise) {
    const std::unique_ptr<std::promise<int>> done(static_cast<std::promise<int>*>(const_cast<void*>(promise)));
    done->set_value(code);
  }

  zhandle_t* handle_;
};

/// One server for all tests; each test has a proxy of its own, a client behind it and one that sees the server
/// directly.
class FaultProxyTest : public ::testing::Test {
 protected:
  static constexpr std::chrono::milliseconds kLimit = kProxyLimit;

  static void SetUpTestSuite() {
    zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
    server = std::make_unique<TestServer>();
  }
  static void TearDownTestSuite() { server.reset(); }

  void SetUp() override {
    ASSERT_EQ(direct.create(root).get(), ZOK);
    ASSERT_EQ(client->create(root + "/before").get(), ZOK);
    proxy.reset_counts();
  }

  void TearDown() override {
    if (!HasFailure()) return;
    std::ostringstream out;
    for (const Observed& observed : proxy.trace()) {
      out << observed << '\n';
    }
    ADD_FAILURE() << "what passed the proxy:\n" << out.str();
  }

  static inline std::unique_ptr<TestServer> server;

  const std::string root = std::string("/") + ::testing::UnitTest::GetInstance()->current_test_info()->name();
  const std::string node = root + "/node";
  FaultProxy proxy{server->address()};
  FutureClient direct{server->address()};
  std::optional<FutureClient> client{proxy.address()};
};

}  // namespace zkrecipes::testing
