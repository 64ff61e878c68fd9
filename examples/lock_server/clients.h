// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <functional>

namespace examples {

struct Load {
  int requests = 1000;
  int at_once = 100;
  int locks = 10;
};

/// Sends requests to a server, `at_once` at a time, all on the thread of `io`. One client in seven has 5 ms only, and
/// one in ten closes its socket without waiting for the answer.
class Clients {
 public:
  Clients(boost::asio::io_context& io, boost::asio::ip::tcp::endpoint server, const Load& load);
  /// `when_done` is called after the last one. This object has to live until then.
  void start(std::function<void()> when_done);

 private:
  class Client;
  void next();  ///< starts one client, if there is one left

  boost::asio::io_context& io_;
  const boost::asio::ip::tcp::endpoint server_;
  const Load load_;
  std::function<void()> when_done_;
  int started_ = 0;
  int running_ = 0;
};

}  // namespace examples
