// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "testkit/direction.h"
#include "testkit/relayed_connection.h"

namespace testkit {

/// Stands between clients and one server, on a free port of the loopback interface, and disturbs the connections on
/// request.
///
/// When one side closes, the other side is closed after it has received what was on its way.
///
/// Threads: one thread of its own does all the work. Any thread may call; a call has taken effect when it returns.
/// Calls from the relay's own thread (a derived connection makes them) take effect later. The destructor closes all
/// connections and discards what is held or delayed.
///
///     testkit::TcpRelay relay({testkit::parse_endpoint("127.0.0.1:2181")});
///     connect_to(relay.address());
///     relay.delay(std::chrono::milliseconds(1));
///     relay.cut();
class TcpRelay {
 public:
  using Socket = RelayedConnection::Socket;
  using Endpoints = RelayedConnection::Endpoints;
  /// Makes the object for a connection that was accepted. Called on the relay's thread.
  using MakeConnection = std::function<std::shared_ptr<RelayedConnection>(RelayState&, Socket client)>;

  /// Connects to the first of the endpoints that accepts. Throws std::runtime_error if it cannot listen.
  explicit TcpRelay(Endpoints upstream, MakeConnection make_connection = {});
  ~TcpRelay();
  TcpRelay(const TcpRelay&) = delete;
  TcpRelay& operator=(const TcpRelay&) = delete;

  /// "127.0.0.1:port". The relay keeps the port for life, also while it refuses.
  std::string address() const;
  /// For connections made from now on.
  void set_upstream(Endpoints upstream);
  const Traffic& traffic() const noexcept { return state_.traffic; }

  /// Closes all connections (FIN); new ones are accepted.
  void cut();
  /// Closes all connections with RST on both sides; new ones are accepted.
  void reset();
  /// Bytes in this direction, delayed or held ones too, and the end of the connection vanish, now and on connections to
  /// come. Adds to directions that are black already.
  void black_hole(Direction direction = Direction::both);
  /// For bytes that are read from now on, each way; 0 is off. Order is kept.
  void delay(std::chrono::microseconds each_way);
  /// Every byte in a write (with TCP_NODELAY: a segment) of its own.
  void deliver_single_bytes(bool on);
  /// New connections are accepted and never read. Turning it off cuts them.
  void never_answer(bool on);
  /// Existing connections are cut and new ones refused by the operating system.
  void refuse(bool on);
  /// All standing conditions off. Cuts the connections that lived through a black hole or were never answered, because
  /// their streams have holes; the others live on.
  void heal();

  // For what is built on the relay

  /// Runs the action on the relay's thread and waits for it; called on that thread, leaves it for later.
  void run(std::function<void()> action);
  bool on_own_thread() { return io_.get_executor().running_in_this_thread(); }
  /// Waits until the handlers that run now have ended. No effect on the relay's thread.
  void settle();
  /// For use on the relay's thread. Some may be closed already.
  const std::vector<std::shared_ptr<RelayedConnection>>& connections() const noexcept { return connections_; }

 private:
  using Choice = std::function<bool(const RelayedConnection&)>;

  void close_if(const Choice& choice, void (*how)(Socket&) = close_gracefully);
  void set_refuse(bool on);
  void set_never_answer(bool on);
  void listen();
  void stop_listening();
  void accept();
  void accepted(Socket client);

  boost::asio::io_context io_{1};
  const MakeConnection make_connection_;
  boost::asio::ip::tcp::endpoint address_;  // constant after construction

  // used on the thread only
  RelayState state_;
  Endpoints upstream_;
  std::vector<std::shared_ptr<RelayedConnection>> connections_;
  boost::asio::ip::tcp::acceptor port_keeper_{io_};  // bound and never listening: keeps the port while we refuse
  boost::asio::ip::tcp::acceptor listener_{io_};
  boost::asio::steady_timer accept_pause_{io_};
  long listening_since_ = 0;  // changes when listening stops: an accept begun before must not count

  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> keep_running_{io_.get_executor()};
  std::thread thread_;
};

}  // namespace testkit
