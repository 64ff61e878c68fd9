// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fixture.h"

#include <algorithm>
#include <atomic>
#include <sstream>
#include <thread>
#include <unistd.h>
#include <utility>

namespace zkrecipes::testing {

bool wait_for(const std::function<bool()>& condition, std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

// ---- StateLog ----

StateLog::StateLog(Connection& connection)
    : subscription_(connection.on_state_change([log = log_](ConnectionState state) {
        std::lock_guard<std::mutex> lock(log->mutex);
        log->states.push_back(state);
        log->changed.notify_all();
      })) {}

std::vector<ConnectionState> StateLog::states() const {
  std::lock_guard<std::mutex> lock(log_->mutex);
  return log_->states;
}

bool StateLog::wait_for(const std::vector<ConnectionState>& states, std::chrono::milliseconds limit) const {
  std::unique_lock<std::mutex> lock(log_->mutex);
  return log_->changed.wait_for(lock, limit, [&] { return log_->states == states; });
}

bool StateLog::wait_for(ConnectionState state, std::chrono::milliseconds limit) const {
  std::unique_lock<std::mutex> lock(log_->mutex);
  return log_->changed.wait_for(
      lock, limit, [&] { return std::find(log_->states.begin(), log_->states.end(), state) != log_->states.end(); });
}

// ---- ConnectedTest ----

void ConnectedTest::SetUp() {
  static std::atomic<int> last{0};
  chroot_ = "/test-" + std::to_string(getpid()) + "-" + std::to_string(++last);
}

void ConnectedTest::TearDown() {
  if (IsSkipped()) return;
  if (final_checks_) {
    heal();
    check_nothing_is_left();
  }
  connections_.clear();
  if (final_checks_) plain().remove_all(chroot_);
  plain_.reset();
}

void ConnectedTest::check_nothing_is_left() {
  for (const auto& connection : connections_) {
    const bool idle = wait_for([&] {
      const auto load = load_of(*connection);
      return load.requests == 0 && load.watches == 0 && load.probes == 0;
    });
    const auto load = load_of(*connection);
    EXPECT_TRUE(idle) << "left on a connection (" << connection->state() << "): " << load.requests << " requests, "
                      << load.watches << " watches, " << load.probes << " probes";
  }
  std::vector<std::string> left;
  const bool clean = wait_for([&] {
    left = plain().ephemerals_below(chroot_);
    return left.empty();
  });
  std::ostringstream names;
  for (const std::string& node : left) names << ' ' << node;
  EXPECT_TRUE(clean) << "nodes are left in the server:" << names.str();
  if (external_servers()) return;  // others may be watching there
  EXPECT_TRUE(wait_for([&] { return server_watches() <= watches_before_; }))
      << server_watches() - watches_before_ << " watches are left in the server";
}

ConnectionOptions ConnectedTest::options(std::chrono::milliseconds session_timeout) const {
  return options_for(addresses(), session_timeout);
}

ConnectionOptions ConnectedTest::options_for(const std::string& addresses,
                                             std::chrono::milliseconds session_timeout) const {
  ConnectionOptions options;
  options.servers = addresses + chroot_;
  options.session_timeout = session_timeout;
  options.retry.initial_delay = std::chrono::milliseconds(10);
  options.retry.max_delay = std::chrono::milliseconds(500);
  return options;
}

Connection& ConnectedTest::connect(ConnectionOptions options) {
  Connection& connection = begin_connect(std::move(options));
  if (!connection.wait_until_connected(kLimit)) throw std::runtime_error("cannot connect");
  return connection;
}

Connection& ConnectedTest::begin_connect(ConnectionOptions options) {
  plain();  // first, so that it is there when the servers are not
  return *connections_.emplace_back(std::make_unique<Connection>(std::move(options)));
}

void ConnectedTest::disconnect(Connection& connection) {
  const auto found = std::find_if(connections_.begin(), connections_.end(),
                                  [&](const auto& each) { return each.get() == &connection; });
  ASSERT_NE(found, connections_.end()) << "not a connection of the fixture";
  connections_.erase(found);
}

detail::ZookeeperClient::Load ConnectedTest::load_of(Connection& connection) {
  return static_cast<detail::ZookeeperClient&>(*client_of(connection)).load();
}

bool ConnectedTest::wait_for_state(Connection& connection, ConnectionState state, std::chrono::milliseconds limit) {
  return testing::wait_for([&] { return connection.state() == state; }, limit);
}

PlainClient& ConnectedTest::plain() {
  if (!plain_) {
    plain_ = std::make_unique<PlainClient>(addresses());
    if (!external_servers()) watches_before_ = server_watches();
    plain_->create_all(chroot_);
  }
  return *plain_;
}

bool ConnectedTest::wait_for_children(const std::string& path, std::size_t number, std::chrono::milliseconds limit) {
  return testing::wait_for([&] { return children(path).size() == number; }, limit);
}

void ConnectedTest::create_node(const std::string& path, const std::string& data) {
  plain().create_all(full(path));
  if (!data.empty()) plain().set(full(path), data);
}

// ---- ServerTest ----

void ServerTest::TearDown() {
  ConnectedTest::TearDown();
  proxy_.reset();
  own_server_.reset();
}

TestServer& ServerTest::server() const {
  if (own_server_) return *own_server_;
  static TestServer shared;
  return shared;
}

TestServer& ServerTest::use_own_server(const ServerOptions& options) {
  own_server_ = std::make_unique<TestServer>(options);
  return *own_server_;
}

FaultProxy& ServerTest::proxy() {
  if (!proxy_) {
    const std::string all = addresses();
    proxy_ = std::make_unique<FaultProxy>(all.substr(0, all.find(',')));
  }
  return *proxy_;
}

void ServerTest::heal() {
  if (!proxy_) return;
  proxy_->clear_faults();
  proxy_->release_held();
  proxy_->heal();
}

// ---- EnsembleTest ----

void EnsembleTest::SetUp() {
  if (external_servers()) GTEST_SKIP() << "needs an ensemble that it can control";
  ConnectedTest::SetUp();
  use_ensemble({});
}

TestEnsemble& EnsembleTest::use_ensemble(const ServerOptions& options, int servers) {
  proxies_.clear();
  ensemble_.reset();
  ensemble_ = std::make_unique<TestEnsemble>(servers, options);
  proxies_.resize(static_cast<std::size_t>(servers));
  return *ensemble_;
}

void EnsembleTest::TearDown() {
  ConnectedTest::TearDown();
  proxies_.clear();
  ensemble_.reset();
}

FaultProxy& EnsembleTest::proxy(int member) {
  auto& proxy = proxies_.at(static_cast<std::size_t>(member));
  if (!proxy) proxy = std::make_unique<FaultProxy>(ensemble_->address(member));
  return *proxy;
}

ConnectionOptions EnsembleTest::options_by_proxy(const std::vector<int>& members,
                                                 std::chrono::milliseconds session_timeout) {
  std::string addresses;
  for (const int member : members) addresses += (addresses.empty() ? "" : ",") + proxy(member).address();
  return options_for(addresses, session_timeout);
}

void EnsembleTest::heal() {
  if (ensemble_->has_controlled_links()) ensemble_->heal();
  if (ensemble_->info().running < ensemble_->size()) ensemble_->restart_all();
  for (const auto& proxy : proxies_) {
    if (!proxy) continue;
    proxy->clear_faults();
    proxy->release_held();
    proxy->heal();
  }
}

}  // namespace zkrecipes::testing
