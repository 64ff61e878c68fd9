// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <gtest/gtest.h>
#include <mutex>
#include <string>
#include <thread>
#include <zookeeper/zookeeper.h>

#include "tests/support/test_server.h"

namespace zkrecipes::testing {

constexpr std::chrono::seconds kServerLimit{20};

inline bool eventually(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + kServerLimit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

/// The C client, whose calls return its codes.
class CodeClient {
 public:
  explicit CodeClient(const std::string& servers, std::chrono::milliseconds session_timeout = std::chrono::seconds(10))
      : handle_(open(servers, static_cast<int>(session_timeout.count()))) {}
  ~CodeClient() { zookeeper_close(handle_); }
  CodeClient(const CodeClient&) = delete;
  CodeClient& operator=(const CodeClient&) = delete;

  zhandle_t* get() const { return handle_; }
  std::int64_t session() const { return zoo_client_id(handle_)->client_id; }

  bool wait_for_state(int state) {
    std::unique_lock<std::mutex> lock(mutex_);
    return changed_.wait_for(lock, kServerLimit, [&] { return state_ == state; });
  }
  bool connect() { return wait_for_state(ZOO_CONNECTED_STATE); }

  int create(const std::string& path, int mode = ZOO_PERSISTENT, const std::string& data = {}) {
    return zoo_create(handle_, path.c_str(), data.data(), static_cast<int>(data.size()), &ZOO_OPEN_ACL_UNSAFE, mode,
                      nullptr, 0);
  }
  int exists(const std::string& path, int watch = 0) { return zoo_exists(handle_, path.c_str(), watch, nullptr); }
  int remove(const std::string& path) { return zoo_delete(handle_, path.c_str(), -1); }

 private:
  zhandle_t* open(const std::string& servers, int session_timeout_ms) {
    zoo_set_debug_level(static_cast<ZooLogLevel>(0));  // lost connections are what these tests are about
    return zookeeper_init(servers.c_str(), &CodeClient::watch, session_timeout_ms, nullptr, this, 0);
  }
  static void watch(zhandle_t*, int type, int state, const char*, void* context) {
    auto* self = static_cast<CodeClient*>(context);
    if (type != ZOO_SESSION_EVENT) return;
    std::lock_guard<std::mutex> lock(self->mutex_);
    self->state_ = state;
    self->changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  int state_ = 0;            // guarded by mutex_
  zhandle_t* const handle_;  // last: its threads use the rest
};

class TestServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (external_servers()) GTEST_SKIP() << "needs servers that it can control";
  }
};
using TestEnsembleTest = TestServerTest;
using TestServerProcessTest = TestServerTest;

}  // namespace zkrecipes::testing
