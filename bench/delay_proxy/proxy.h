// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstdint>

namespace bench {

/// Bytes that have passed, both directions of all connections.
struct Traffic {
  std::atomic<std::uint64_t> to_server{0};
  std::atomic<std::uint64_t> to_client{0};
};

/// Forwards TCP connections, each byte delayed by the same time, in order. Runs on the thread of its io_context.
class DelayProxy {
 public:
  /// Listens on a free port of the loopback interface.
  DelayProxy(boost::asio::io_context& io, boost::asio::ip::tcp::endpoint server, std::chrono::microseconds delay);

  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
  const Traffic& traffic() const { return traffic_; }

 private:
  void accept();

  boost::asio::ip::tcp::acceptor acceptor_;
  const boost::asio::ip::tcp::endpoint server_;
  const std::chrono::microseconds delay_;
  Traffic traffic_;
};

}  // namespace bench
