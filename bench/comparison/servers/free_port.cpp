// SPDX-License-Identifier: Apache-2.0
#include "bench/comparison/servers/free_port.h"

#include <arpa/inet.h>
#include <random>
#include <stdexcept>
#include <sys/socket.h>
#include <unistd.h>

namespace comparison {
namespace {

constexpr int kFirst = 20'000;
constexpr int kLast = 32'640;
constexpr int kAttempts = 200;

bool is_free(int port) {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return false;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  const bool bound = ::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  ::close(descriptor);
  return bound;
}

}  // namespace

int free_port() {
  static std::minstd_rand random(std::random_device{}());
  std::uniform_int_distribution<int> ports(kFirst, kLast);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const int port = ports(random);
    if (is_free(port)) return port;
  }
  throw std::runtime_error("found no free port of 127.0.0.1 between " + std::to_string(kFirst) + " and " +
                           std::to_string(kLast));
}

}  // namespace comparison
