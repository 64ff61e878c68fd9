// SPDX-License-Identifier: Apache-2.0
#include "bench/delay_proxy/proxy.h"

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

namespace bench {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;

/// The two sockets of a forwarded connection. An error of either ends both.
struct Link {
  Link(tcp::socket client_socket, tcp::socket server_socket)
      : client(std::move(client_socket)), server(std::move(server_socket)) {}
  void end() {
    error_code ignored;
    client.close(ignored);
    server.close(ignored);
  }
  tcp::socket client;
  tcp::socket server;
};

/// One direction of a link: reads at once, writes when it is time. Lives as long as an operation of it is under way.
class Direction : public std::enable_shared_from_this<Direction> {
 public:
  Direction(std::shared_ptr<Link> link, tcp::socket& from, tcp::socket& to, std::chrono::microseconds delay,
            std::atomic<std::uint64_t>& passed)
      : link_(std::move(link)), from_(from), to_(to), delay_(delay), passed_(passed), timer_(from.get_executor()) {}

  void read() {
    from_.async_read_some(asio::buffer(input_), [self = shared_from_this()](error_code error, std::size_t size) {
      self->on_read(error, size);
    });
  }

 private:
  struct Chunk {
    Clock::time_point due;
    std::vector<char> bytes;  // empty: the end of the stream
  };

  void on_read(error_code error, std::size_t size) {
    if (error && error != asio::error::eof) return link_->end();
    passed_ += size;
    const auto begin = input_.begin();
    waiting_.push_back({Clock::now() + delay_, {begin, begin + static_cast<std::ptrdiff_t>(size)}});
    if (!writing_) write_when_due();
    if (!error) read();
  }

  void write_when_due() {
    if (waiting_.empty()) return;
    writing_ = true;
    timer_.expires_at(waiting_.front().due);
    timer_.async_wait([self = shared_from_this()](error_code /*never cancelled*/) { self->write(); });
  }

  void write() {
    output_.clear();
    bool end = false;
    for (const auto now = Clock::now(); !waiting_.empty() && waiting_.front().due <= now; waiting_.pop_front()) {
      const std::vector<char>& bytes = waiting_.front().bytes;
      end = bytes.empty();
      output_.insert(output_.end(), bytes.begin(), bytes.end());
    }
    asio::async_write(to_, asio::buffer(output_), [self = shared_from_this(), end](error_code error, std::size_t) {
      self->writing_ = false;
      if (error) return self->link_->end();
      error_code ignored;
      if (end) self->to_.shutdown(tcp::socket::shutdown_send, ignored);
      self->write_when_due();
    });
  }

  const std::shared_ptr<Link> link_;
  tcp::socket& from_;
  tcp::socket& to_;
  const std::chrono::microseconds delay_;
  std::atomic<std::uint64_t>& passed_;
  asio::steady_timer timer_;
  std::array<char, 65'536> input_{};
  std::deque<Chunk> waiting_;
  std::vector<char> output_;
  bool writing_ = false;
};

}  // namespace

DelayProxy::DelayProxy(asio::io_context& io, tcp::endpoint server, std::chrono::microseconds delay)
    : acceptor_(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0)), server_(std::move(server)), delay_(delay) {
  accept();
}

void DelayProxy::accept() {
  acceptor_.async_accept([this](error_code error, tcp::socket client) {
    if (error) return;
    tcp::socket server(acceptor_.get_executor());
    error_code refused;
    server.connect(server_, refused);  // on the loopback interface: does not block for long
    if (!refused) {
      client.set_option(tcp::no_delay(true));
      server.set_option(tcp::no_delay(true));
      const auto link = std::make_shared<Link>(std::move(client), std::move(server));
      std::make_shared<Direction>(link, link->client, link->server, delay_, traffic_.to_server)->read();
      std::make_shared<Direction>(link, link->server, link->client, delay_, traffic_.to_client)->read();
    }
    accept();
  });
}

}  // namespace bench
