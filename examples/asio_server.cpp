// SPDX-License-Identifier: Apache-2.0
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <memory>
#include <string>
#include <utility>
#include <zkrecipes/asio.h>

#include "examples/lock_server/run.h"

namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;

/// One client. Lives as long as its operations.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(tcp::socket socket, examples::Service& service)
      : service_(service), socket_(std::move(socket)), work_(socket_.get_executor()) {}

  void start() {
    boost::asio::async_read_until(socket_, boost::asio::dynamic_buffer(input_), '\n',
                                  [self = shared_from_this()](const error_code& error, std::size_t) {
                                    if (!error) self->acquire();
                                  });
  }

 private:
  void acquire() {
    request_ = examples::parse(input_);
    notice_when_gone();
    zkrecipes::async_acquire(
        service_.lock(request_), service_.options(request_, gone_.token()),
        boost::asio::bind_executor(socket_.get_executor(),
                                   [self = shared_from_this()](const std::exception_ptr& error, zkrecipes::Hold hold) {
                                     if (error)
                                       self->refuse(error);
                                     else
                                       self->work(std::move(hold));
                                   }));
  }

  /// The client says nothing more, so a read ends when the client goes away; then nobody wants the lock.
  void notice_when_gone() {
    socket_.async_read_some(
        boost::asio::buffer(&nothing_, 1),
        [self = shared_from_this()](const error_code&, std::size_t) { self->gone_.request_stop(); });
  }

  void work(zkrecipes::Hold hold) {
    service_.enter(request_);
    work_.expires_after(service_.work());
    work_.async_wait([self = shared_from_this(), hold = std::move(hold)](const error_code&) mutable {
      const std::string token = std::to_string(hold.token().zxid);
      self->service_.leave(self->request_);
      hold = zkrecipes::Hold();  // releases the lock, without waiting for the answer
      self->answer("done with token " + token + '\n');
    });
  }

  void refuse(const std::exception_ptr& error) {
    service_.refuse(error);
    answer("not in time\n");
  }

  void answer(std::string text) {
    answer_ = std::move(text);
    boost::asio::async_write(socket_, boost::asio::buffer(answer_),
                             [self = shared_from_this()](const error_code&, std::size_t) { self->socket_.close(); });
  }

  examples::Service& service_;
  tcp::socket socket_;
  boost::asio::steady_timer work_;
  std::string input_, answer_;
  char nothing_ = 0;
  examples::Request request_;
  zkrecipes::StopSource gone_;
};

void serve(tcp::acceptor& acceptor, examples::Service& service) {
  acceptor.async_accept([&](const error_code& closed, tcp::socket socket) {
    if (closed) return;
    std::make_shared<Session>(std::move(socket), service)->start();
    serve(acceptor, service);
  });
}

}  // namespace

int main(int argc, char** argv) {
  return examples::run_lock_server("asio_server",
                                   "An Asio server with one thread. Each request needs one of a few locks and has a\n"
                                   "deadline; some clients go away while they wait. Waiting blocks nothing.",
                                   argc, argv, serve);
}
