// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "connection/zookeeper_client.h"
#include "tests/support/answer.h"
#include "tests/support/fault_proxy.h"
#include "tests/support/plain_client.h"
#include "tests/support/sync_client.h"
#include "tests/support/test_server.h"
#include "zkrecipes/connection.h"

namespace zkrecipes::testing {

/// True as soon as the condition holds; false if it does not within the limit.
bool wait_for(const std::function<bool()>& condition, std::chrono::milliseconds limit = kLimit);

/// All states that a connection went through since this was made, in order.
class StateLog {
 public:
  explicit StateLog(Connection& connection);

  std::vector<ConnectionState> states() const;
  /// True as soon as exactly these have come.
  bool wait_for(const std::vector<ConnectionState>& states, std::chrono::milliseconds limit = kLimit) const;
  /// True as soon as this one is among them.
  bool wait_for(ConnectionState state, std::chrono::milliseconds limit = kLimit) const;

 private:
  struct Log {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<ConnectionState> states;  // guarded by mutex
  };
  const std::shared_ptr<Log> log_ = std::make_shared<Log>();
  const Subscription subscription_;
};

/// Shared by the tests against real servers. Each test has a chroot of its own, so tests do not see each other
/// although they share servers; all paths below are relative to it. Connections that the fixture makes are closed by
/// it, after it has checked that the test left nothing behind:
///
/// - no request in flight, no watch and no probe on any of these connections,
/// - no ephemeral node in the chroot, while the sessions still live,
/// - no watch on the servers.
///
/// So a test releases what it acquired and lets go of it; it need not wait for the effect, since the checks do. They
/// heal the proxies first, for a removal may be waiting for that.
class ConnectedTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  // ---- Connections ----

  /// Options for a connection to the servers, directly, in this test's chroot. Expiry only where a test asks for it:
  /// the session timeout is 20 s.
  ConnectionOptions options(std::chrono::milliseconds session_timeout = std::chrono::seconds(20)) const;
  /// The same for a list "host:port,host:port" of one's own, such as the addresses of proxies.
  ConnectionOptions options_for(const std::string& addresses, std::chrono::milliseconds session_timeout) const;

  /// Connected on return. Lives until the end of the test or disconnect().
  Connection& connect() { return connect(options()); }
  Connection& connect(ConnectionOptions options);
  /// The same without waiting.
  Connection& begin_connect(ConnectionOptions options);
  void disconnect(Connection& connection);  ///< destroys it

  /// The open requests, watches and probes of a connection.
  static detail::ZookeeperClient::Load load_of(Connection& connection);

  // ---- What happens to the world ----

  /// As if it had timed out; on return its nodes are gone.
  void expire_session(Connection& connection) { expire(connection.session_id()); }

  static bool wait_for_state(Connection& connection, ConnectionState state, std::chrono::milliseconds limit = kLimit);

  // ---- What is in the servers, as an independent client sees it ----

  PlainClient& plain();
  const std::string& chroot() const { return chroot_; }
  std::string full(const std::string& path) const { return path == "/" ? chroot_ : chroot_ + path; }

  std::vector<std::string> children(const std::string& path) { return plain().children(full(path)); }
  bool node_exists(const std::string& path) { return plain().exists(full(path)); }
  bool wait_for_children(const std::string& path, std::size_t number, std::chrono::milliseconds limit = kLimit);
  void create_node(const std::string& path, const std::string& data = {});  ///< persistent, with its parents
  void remove_node(const std::string& path) { plain().remove(full(path)); }

  // ---- For derived fixtures ----

  virtual std::string addresses() const = 0;  ///< "host:port,host:port", without chroot
  virtual void expire(std::int64_t session_id) = 0;
  virtual int server_watches() = 0;
  virtual void heal() = 0;  ///< all proxies and servers work again
  /// A test that leaves its servers down, or shares them with watches that are not ours, checks for itself.
  void skip_final_checks() { final_checks_ = false; }
  /// The plain client lost its servers for good: the next plain() makes another.
  void forget_plain() { plain_.reset(); }

 private:
  void check_nothing_is_left();

  std::string chroot_;
  std::unique_ptr<PlainClient> plain_;
  std::vector<std::unique_ptr<Connection>> connections_;
  int watches_before_ = 0;
  bool final_checks_ = true;
};

/// One server, shared by the whole program unless use_own_server() is called, and a proxy in front of it for tests
/// that need faults.
class ServerTest : public ConnectedTest {
 protected:
  void TearDown() override;

  TestServer& server() const;
  /// For tests that stop, kill or pause it, or need other limits. First thing in a test.
  TestServer& use_own_server(const ServerOptions& options = {});

  /// In front of server(); made when first asked for, for this test alone.
  FaultProxy& proxy();
  ConnectionOptions options_by_proxy(std::chrono::milliseconds session_timeout = std::chrono::seconds(20)) {
    return options_for(proxy().address(), session_timeout);
  }
  Connection& connect_by_proxy(std::chrono::milliseconds session_timeout = std::chrono::seconds(20)) {
    return connect(options_by_proxy(session_timeout));
  }
  /// All connections through the proxy break once; they come back by themselves.
  void lose_connection() { proxy().cut(); }

  std::string addresses() const override { return server().address(); }
  void expire(std::int64_t session_id) override { server().expire_session(session_id); }
  int server_watches() override { return server().info().watches; }
  void heal() override;

 private:
  std::unique_ptr<TestServer> own_server_;
  std::unique_ptr<FaultProxy> proxy_;
};

/// For tests that expire sessions, or stop, kill or pause servers: skipped where the servers are not ours.
class ControlledServerTest : public ServerTest {
 protected:
  void SetUp() override {
    if (external_servers()) GTEST_SKIP() << "needs servers that it can control";
    ServerTest::SetUp();
  }
};

/// Three servers of the test's own, each with a proxy on request. A test that isolates members looks at the rest with a
/// PlainClient of its own: plain() may happen to be connected to a member that is cut off.
class EnsembleTest : public ConnectedTest {
 protected:
  void SetUp() override;
  void TearDown() override;

  TestEnsemble& ensemble() const { return *ensemble_; }
  /// For tests that need links to cut, other limits or another number of members. First thing in a test.
  TestEnsemble& use_ensemble(const ServerOptions& options, int servers = 3);
  FaultProxy& proxy(int member);
  /// Through the proxies of these members only.
  ConnectionOptions options_by_proxy(const std::vector<int>& members,
                                     std::chrono::milliseconds session_timeout = std::chrono::seconds(20));
  int any_follower() { return (ensemble().leader() + 1) % ensemble().size(); }

  std::string addresses() const override { return ensemble_->addresses(); }
  void expire(std::int64_t session_id) override { ensemble_->expire_session(session_id); }
  int server_watches() override { return ensemble_->info().watches; }
  void heal() override;

 private:
  std::unique_ptr<TestEnsemble> ensemble_;
  std::vector<std::unique_ptr<FaultProxy>> proxies_;
};

}  // namespace zkrecipes::testing
