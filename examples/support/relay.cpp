// SPDX-License-Identifier: Apache-2.0
#include "examples/support/relay.h"

#include "testkit/endpoint.h"
#include "testkit/tcp_relay.h"

namespace examples {
namespace {

testkit::TcpRelay::Endpoints first_of(const std::string& servers) {
  const std::string first = servers.substr(0, servers.find_first_of(",/"));
  const std::size_t colon = first.rfind(':');
  const std::string port = colon == std::string::npos ? "2181" : first.substr(colon + 1);
  return testkit::resolve(first.substr(0, colon), port);
}

std::string chroot_of(const std::string& servers) {
  const std::size_t slash = servers.find('/');
  return slash == std::string::npos ? "" : servers.substr(slash);
}

}  // namespace

Relay::Relay(const std::string& servers)
    : relay_(std::make_unique<testkit::TcpRelay>(first_of(servers))),
      address_(relay_->address() + chroot_of(servers)) {}

Relay::~Relay() = default;

void Relay::cut() {
  relay_->refuse(true);
}

void Relay::mend() {
  relay_->refuse(false);
}

}  // namespace examples
