// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <sys/time.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace zkrecipes::testing {

inline sockaddr_in loopback(const std::string& address) {
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  where.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
  return where;
}

/// A bare TCP connection, for what the C client cannot show.
class BareSocket {
 public:
  static constexpr std::chrono::seconds kReceiveLimit{30};

  explicit BareSocket(int descriptor) : descriptor_(descriptor) {
    const timeval limit{kReceiveLimit.count(), 0};
    setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  }
  ~BareSocket() { ::close(descriptor_); }
  BareSocket(BareSocket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  BareSocket(const BareSocket&) = delete;
  BareSocket& operator=(const BareSocket&) = delete;
  BareSocket& operator=(BareSocket&&) = delete;

  static BareSocket connected_to(const std::string& address) {
    BareSocket socket(::socket(AF_INET, SOCK_STREAM, 0));
    const sockaddr_in where = loopback(address);
    if (::connect(socket.descriptor_, reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0) {
      throw std::system_error(errno, std::generic_category());
    }
    return socket;
  }

  void send(const std::string& bytes) const { ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL); }

  /// Everything up to the end of the stream, or up to `most` bytes.
  std::string receive(std::size_t most = std::string::npos) {
    std::string all;
    std::array<char, 4096> room{};
    end_error_ = 0;
    while (all.size() < most) {
      const ssize_t got = ::recv(descriptor_, room.data(), std::min(room.size(), most - all.size()), 0);
      if (got <= 0) {
        end_error_ = got < 0 ? errno : 0;
        break;
      }
      all.append(room.data(), static_cast<std::size_t>(got));
    }
    return all;
  }
  /// How the last receive() ended: 0 for FIN.
  int end_error() const { return end_error_; }
  int descriptor() const { return descriptor_; }

  unsigned segments_received() const {
    tcp_info info{};
    socklen_t size = sizeof info;
    getsockopt(descriptor_, IPPROTO_TCP, TCP_INFO, &info, &size);
    return info.tcpi_data_segs_in;
  }

 private:
  int descriptor_;
  int end_error_ = 0;
};

inline std::string frame_of(const std::string& payload) {
  return std::string{0, 0, static_cast<char>(payload.size() >> 8U), static_cast<char>(payload.size() & 0xffU)} +
         payload;
}

/// Asks for a new session of ten seconds: version, last zxid, timeout, session id, password.
inline std::string connect_request() {
  return frame_of(std::string(12, '\0') + std::string{0, 0, 0x27, 0x10} + std::string(8, '\0') +
                  std::string{0, 0, 0, 0x10} + std::string(16, '\0'));
}

}  // namespace zkrecipes::testing
