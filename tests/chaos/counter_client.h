// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arpa/inet.h>
#include <cerrno>
#include <netinet/in.h>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>

namespace zkrecipes::testing {

/// Asks a counter_server; one question, one answer. Throws std::runtime_error when it is gone.
class CounterClient {
 public:
  explicit CounterClient(int port) : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    if (connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      const int error = errno;
      close(socket_);
      throw std::system_error(error, std::generic_category(), "counter server");
    }
  }
  ~CounterClient() { close(socket_); }
  CounterClient(const CounterClient&) = delete;
  CounterClient& operator=(const CounterClient&) = delete;

  std::string ask(const std::string& question) const {
    const std::string line = question + "\n";
    if (send(socket_, line.data(), line.size(), MSG_NOSIGNAL) == -1) throw std::runtime_error("no counter server");
    std::string answer;
    for (char byte = 0; recv(socket_, &byte, 1, 0) == 1;) {
      if (byte == '\n') return answer;
      answer += byte;
    }
    throw std::runtime_error("no answer from the counter server");
  }

 private:
  const int socket_;
};

}  // namespace zkrecipes::testing
