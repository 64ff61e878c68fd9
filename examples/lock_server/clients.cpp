// SPDX-License-Identifier: Apache-2.0
#include "examples/lock_server/clients.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "examples/lock_server/service.h"

namespace examples {

using boost::system::error_code;

/// One request. Lives as long as its operations.
class Clients::Client : public std::enable_shared_from_this<Client> {
 public:
  Client(Clients& all, int number)
      : all_(all),
        goes_away_(number % 10 == 0),
        line_(to_line({static_cast<std::size_t>(number % all.load_.locks),
                       std::chrono::milliseconds(number % 7 == 0 ? 5 : 60'000)})),
        socket_(all.io_),
        timer_(all.io_) {}
  ~Client() {
    --all_.running_;
    all_.next();
  }

  void run() {
    socket_.async_connect(all_.server_, [self = shared_from_this()](const error_code& error) {
      if (!error) self->ask();
    });
  }

 private:
  void ask() {
    boost::asio::async_write(socket_, boost::asio::buffer(line_),
                             [self = shared_from_this()](const error_code& error, std::size_t) {
                               if (error) return;
                               if (self->goes_away_) return self->go_away();
                               self->await_answer();
                             });
  }
  void await_answer() {
    boost::asio::async_read(socket_, boost::asio::dynamic_buffer(answer_),
                            [self = shared_from_this()](const error_code&, std::size_t) {});
  }
  void go_away() {
    timer_.expires_after(std::chrono::milliseconds(1));
    timer_.async_wait([self = shared_from_this()](const error_code&) {});
  }

  Clients& all_;
  const bool goes_away_;
  const std::string line_;
  std::string answer_;
  boost::asio::ip::tcp::socket socket_;
  boost::asio::steady_timer timer_;
};

Clients::Clients(boost::asio::io_context& io, boost::asio::ip::tcp::endpoint server, const Load& load)
    : io_(io), server_(std::move(server)), load_(load) {}

void Clients::start(std::function<void()> when_done) {
  when_done_ = std::move(when_done);
  for (int i = 0; i < load_.at_once; ++i) next();
}

void Clients::next() {
  if (started_ < load_.requests) {
    ++started_;
    ++running_;
    std::make_shared<Client>(*this, started_)->run();
  } else if (running_ == 0 && when_done_) {
    std::exchange(when_done_, nullptr)();
  }
}

}  // namespace examples
