// SPDX-License-Identifier: Apache-2.0
// asio_server, written with coroutines.
// clang-format off
#include <utility>  // first: awaitable.hpp of Boost 1.74 needs it and does not include it
// clang-format on
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <memory>
#include <string>
#include <zkrecipes/asio.h>

#include "examples/lock_server/run.h"

namespace {

using boost::asio::awaitable;
using boost::asio::use_awaitable;
using boost::asio::ip::tcp;
using Socket = std::shared_ptr<tcp::socket>;

/// The end of a coroutine that nobody awaits. A socket that the other side has closed is no failure.
void report(const std::exception_ptr& error) {
  try {
    if (error) std::rethrow_exception(error);
  } catch (const boost::system::system_error&) {
  }
}

/// The client says nothing more, so a read ends when the client goes away; then nobody wants the lock.
awaitable<void> notice_when_gone(Socket socket, zkrecipes::StopSource gone) {
  char nothing = 0;
  try {
    co_await socket->async_read_some(boost::asio::buffer(&nothing, 1), use_awaitable);
  } catch (const boost::system::system_error&) {
  }
  gone.request_stop();
}

awaitable<std::string> work(examples::Request request, zkrecipes::StopToken gone, examples::Service& service) {
  try {
    const zkrecipes::Hold hold =
        co_await zkrecipes::async_acquire(service.lock(request), service.options(request, gone), use_awaitable);
    service.enter(request);
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, service.work());
    co_await timer.async_wait(use_awaitable);
    service.leave(request);
    co_return "done with token " + std::to_string(hold.token().zxid) + '\n';
  } catch (const zkrecipes::Error&) {
    service.refuse(std::current_exception());
  }
  co_return "not in time\n";
}

awaitable<void> serve_one(Socket socket, examples::Service& service) {
  std::string input;
  co_await boost::asio::async_read_until(*socket, boost::asio::dynamic_buffer(input), '\n', use_awaitable);
  zkrecipes::StopSource gone;
  co_spawn(socket->get_executor(), notice_when_gone(socket, gone), report);
  const std::string answer = co_await work(examples::parse(input), gone.token(), service);
  co_await boost::asio::async_write(*socket, boost::asio::buffer(answer), use_awaitable);
  socket->close();
}

awaitable<void> accept(tcp::acceptor& acceptor, examples::Service& service) {
  while (true) {
    auto socket = std::make_shared<tcp::socket>(co_await acceptor.async_accept(use_awaitable));
    co_spawn(acceptor.get_executor(), serve_one(std::move(socket), service), report);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return examples::run_lock_server(
      "coroutine_server",
      "An Asio server with one thread, written with coroutines. Each request needs one of\n"
      "a few locks and has a deadline; some clients go away while they wait.",
      argc, argv, [](tcp::acceptor& acceptor, examples::Service& service) {
        co_spawn(acceptor.get_executor(), accept(acceptor, service), report);
      });
}
