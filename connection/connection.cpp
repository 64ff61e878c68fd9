// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/connection.h"

#include <ostream>
#include <stdexcept>
#include <unistd.h>
#include <utility>

#include "connection/acl.h"
#include "connection/backoff.h"
#include "connection/system_world.h"
#include "connection/zookeeper_client.h"
#include "connection/zookeeper_handle.h"

namespace zkrecipes {

namespace {

using detail::ZookeeperClient;

ZookeeperClient& implementation(const std::shared_ptr<detail::Client>& client) {
  return static_cast<ZookeeperClient&>(*client);
}

std::string default_identity() {
  char host[256] = "unknown";
  gethostname(host, sizeof host - 1);
  return std::string(host) + ":" + std::to_string(getpid());
}

// Far more than people need to recognise a client, and far less than a server's default jute.maxbuffer.
constexpr std::size_t kMaxIdentityBytes = 64 * 1024;
// Curator's word, see docs/znode_layout.md.
constexpr const char* kRevokeRequest = "__REVOKE__";

/// `authenticated`: whether the connection can have an identity that the server knows.
ConnectionOptions checked(ConnectionOptions options, bool authenticated) {
  detail::check(options.retry);
  if (options.session_timeout <= std::chrono::milliseconds::zero())
    throw std::invalid_argument("zkrecipes: session_timeout must be positive");
  if (options.session_timeout < std::chrono::milliseconds(100))
    throw std::invalid_argument(
        "zkrecipes: session_timeout of less than 100 ms leaves no time to connect; ask for more (servers grant no less "
        "than two of their ticks anyway, by default 4 s)");
  if (options.session_timeout > std::chrono::hours(24))
    throw std::invalid_argument("zkrecipes: session_timeout of more than a day");
  if (options.validity_margin && *options.validity_margin < std::chrono::milliseconds::zero())
    throw std::invalid_argument("zkrecipes: validity_margin must not be negative");
  for (const Credential& credential : options.credentials) {
    if (credential.scheme.empty()) throw std::invalid_argument("zkrecipes: a credential has no scheme");
    if (credential.scheme == "digest" && credential.secret.find(':') == std::string::npos)
      throw std::invalid_argument("zkrecipes: a digest credential must read \"user:password\"");
  }
  detail::check_acl(options.acl, "ConnectionOptions::acl", authenticated);
  detail::check_acl(options.parent_acl, "ConnectionOptions::parent_acl", authenticated);
  if (options.tls && !detail::tls_available())
    throw std::invalid_argument(
        "zkrecipes: TLS was asked for, but the installed ZooKeeper C client was built without it; build the C client "
        "with OpenSSL, or leave ConnectionOptions::tls unset");
  if (options.identity.size() > kMaxIdentityBytes)
    throw std::invalid_argument("zkrecipes: identity has " + std::to_string(options.identity.size()) +
                                " bytes; at most " + std::to_string(kMaxIdentityBytes) + " are allowed");
  if (options.identity.find('\n') != std::string::npos)
    throw std::invalid_argument("zkrecipes: identity must be one line; LockOptions::note takes several");
  if (options.identity == kRevokeRequest)
    throw std::invalid_argument("zkrecipes: identity must not be what a revocation request consists of");
  if (options.identity.empty()) options.identity = default_identity();
  return options;
}

std::shared_ptr<ZookeeperClient> connect(ConnectionOptions options) {
  const bool authenticated = detail::authenticates(options);
  return ZookeeperClient::connect(checked(std::move(options), authenticated), detail::system_world());
}

ConnectionOptions for_servers(std::string servers) {
  ConnectionOptions options;
  options.servers = std::move(servers);
  return options;
}

}  // namespace

Connection::Connection(std::string servers) : Connection(for_servers(std::move(servers))) {}

Connection::Connection(ConnectionOptions options) : client_(connect(std::move(options))) {}

Connection::Connection(zhandle_t* existing) : Connection(existing, ConnectionOptions{}) {}

Connection::Connection(zhandle_t* existing, ConnectionOptions options) {
  if (existing == nullptr) throw std::invalid_argument("zkrecipes: Connection: the zhandle_t is null");
  options.servers = "the program's own handle";
  options.credentials.clear();
  options.tls.reset();
  const auto borrow = [existing](const std::weak_ptr<detail::HandleListener>& listener) {
    return detail::borrow_zookeeper_handle(existing, listener);
  };
  // Which credentials the program has given its handle is not known here.
  client_ = ZookeeperClient::borrow(borrow, checked(std::move(options), true), detail::system_world());
}

Connection::~Connection() {
  if (client_->in_forked_child()) {
    // Its threads do not exist here and its socket is the parent's: leave everything as it is.
    static_cast<void>(new std::shared_ptr<detail::Client>(client_));
    return;
  }
  close();
}

bool Connection::wait_until_connected(std::chrono::milliseconds timeout) {
  return implementation(client_).wait_until_connected(timeout);
}

ConnectionState Connection::state() const noexcept {
  return implementation(client_).state();
}

std::int64_t Connection::session_id() const noexcept {
  return implementation(client_).session_id();
}

std::chrono::milliseconds Connection::session_timeout() const noexcept {
  return implementation(client_).session_timeout();
}

Subscription Connection::on_state_change(std::function<void(ConnectionState)> callback) {
  if (!callback) throw std::invalid_argument("zkrecipes: on_state_change: the callback is empty");
  return implementation(client_).on_state_change(std::move(callback));
}

void Connection::set_servers(std::string servers) {
  implementation(client_).set_servers(std::move(servers));
}

void Connection::close() noexcept {
  if (!client_->in_forked_child()) implementation(client_).close();
}

std::shared_ptr<detail::Client> client_of(Connection& connection) {
  return connection.client_;
}

const char* to_string(ConnectionState state) noexcept {
  switch (state) {
    case ConnectionState::connecting:
      return "connecting";
    case ConnectionState::connected:
      return "connected";
    case ConnectionState::suspended:
      return "suspended";
    case ConnectionState::lost:
      return "lost";
    case ConnectionState::closed:
      return "closed";
  }
  return "unknown";
}

std::ostream& operator<<(std::ostream& out, ConnectionState state) {
  return out << to_string(state);
}

}  // namespace zkrecipes
