// SPDX-License-Identifier: Apache-2.0
#include "examples/support/relay.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>
#include <unistd.h>

namespace examples {
namespace {

constexpr int kPollMilliseconds = 5;  // how soon a cut is felt

void close_line(const std::pair<int, int>& line) {
  ::close(line.first);
  ::close(line.second);
}

/// False when this direction is over.
bool forward(int from, int to) {
  char buffer[16384];
  const ssize_t count = ::read(from, buffer, sizeof buffer);
  for (ssize_t done = 0; done < count;) {
    const ssize_t written = ::send(to, buffer + done, static_cast<std::size_t>(count - done), MSG_NOSIGNAL);
    if (written <= 0) return false;
    done += written;
  }
  return count > 0;
}

int connect_to(const std::string& host, const std::string& port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) return -1;
  int result = -1;
  for (const addrinfo* a = found; a != nullptr && result < 0; a = a->ai_next) {
    result = ::socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (result >= 0 && ::connect(result, a->ai_addr, a->ai_addrlen) != 0) {
      ::close(result);
      result = -1;
    }
  }
  ::freeaddrinfo(found);
  return result;
}

}  // namespace

Relay::Relay(const std::string& servers) {
  const std::size_t slash = servers.find('/');
  const std::string first = servers.substr(0, servers.find_first_of(",/"));
  const std::size_t colon = first.rfind(':');
  host_ = first.substr(0, colon);
  port_ = colon == std::string::npos ? "2181" : first.substr(colon + 1);

  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in self{};
  self.sin_family = AF_INET;
  self.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof self;
  auto* const generic = reinterpret_cast<sockaddr*>(&self);
  if (listener_ < 0 || ::bind(listener_, generic, size) != 0 || ::listen(listener_, 64) != 0 ||
      ::getsockname(listener_, generic, &size) != 0) {
    if (listener_ >= 0) ::close(listener_);
    throw std::runtime_error("cannot listen on a port of 127.0.0.1");
  }
  address_ = "127.0.0.1:" + std::to_string(ntohs(self.sin_port));
  if (slash != std::string::npos) address_ += servers.substr(slash);
  thread_ = std::thread([this] { run(); });
}

Relay::~Relay() {
  ending_ = true;
  thread_.join();
  for (const auto& line : lines_) close_line(line);
  ::close(listener_);
}

void Relay::accept() {
  const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (client < 0) return;
  const int server = is_cut_ ? -1 : connect_to(host_, port_);
  if (server < 0)
    ::close(client);
  else
    lines_.emplace_back(client, server);
}

void Relay::run() {
  while (!ending_) {
    if (is_cut_) {
      for (const auto& line : lines_) close_line(line);
      lines_.clear();
    }
    std::vector<pollfd> sockets{{listener_, POLLIN, 0}};
    for (const auto& line : lines_) {
      sockets.push_back({line.first, POLLIN, 0});
      sockets.push_back({line.second, POLLIN, 0});
    }
    if (::poll(sockets.data(), sockets.size(), kPollMilliseconds) <= 0) continue;
    for (std::size_t i = lines_.size(); i-- > 0;) {
      const auto line = lines_[i];
      const bool fine = (sockets[1 + 2 * i].revents == 0 || forward(line.first, line.second)) &&
                        (sockets[2 + 2 * i].revents == 0 || forward(line.second, line.first));
      if (fine) continue;
      close_line(line);
      lines_.erase(lines_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (sockets[0].revents != 0) accept();
  }
}

}  // namespace examples
