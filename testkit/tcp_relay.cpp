// SPDX-License-Identifier: Apache-2.0
#include "testkit/tcp_relay.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>
#include <future>
#include <iostream>
#include <stdexcept>
#include <utility>

#include "testkit/endpoint.h"

namespace testkit {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

constexpr std::chrono::milliseconds kPauseAfterFailedAccept{10};

bool any(const RelayedConnection& /*connection*/) {
  return true;
}

std::shared_ptr<RelayedConnection> plain_connection(RelayState& state, tcp::socket client) {
  return std::make_shared<RelayedConnection>(state, std::move(client));
}

}  // namespace

TcpRelay::TcpRelay(Endpoints upstream, MakeConnection make_connection)
    : make_connection_(make_connection ? std::move(make_connection) : plain_connection),
      upstream_(std::move(upstream)) {
  const tcp::endpoint any_port(asio::ip::address_v4::loopback(), 0);
  port_keeper_.open(any_port.protocol());
  keep_to_ourselves(port_keeper_.native_handle());
  port_keeper_.set_option(tcp::acceptor::reuse_address(true));
  port_keeper_.bind(any_port);
  address_ = port_keeper_.local_endpoint();
  listen();
  thread_ = std::thread([this] { io_.run(); });
}

TcpRelay::~TcpRelay() {
  io_.stop();
  thread_.join();
  close_if(any);
}

std::string TcpRelay::address() const {
  return to_string(address_);
}

void TcpRelay::run(std::function<void()> action) {
  std::packaged_task<void()> task(std::move(action));
  std::future<void> done = task.get_future();
  asio::post(io_, [task = std::move(task)]() mutable { task(); });
  if (!on_own_thread()) done.get();
}

void TcpRelay::settle() {
  if (!on_own_thread()) run([] {});
}

void TcpRelay::set_upstream(Endpoints upstream) {
  run([this, upstream = std::move(upstream)] { upstream_ = upstream; });
}

void TcpRelay::cut() {
  run([this] { close_if(any); });
}

void TcpRelay::reset() {
  run([this] { close_if(any, close_with_reset); });
}

void TcpRelay::black_hole(Direction direction) {
  run([this, direction] {
    state_.conditions.black_to_server |= direction != Direction::to_client;
    state_.conditions.black_to_client |= direction != Direction::to_server;
    for (const auto& connection : connections_) connection->black_hole_begins();
  });
}

void TcpRelay::delay(std::chrono::microseconds each_way) {
  run([this, each_way] { state_.conditions.delay = each_way; });
}

void TcpRelay::deliver_single_bytes(bool on) {
  run([this, on] { state_.conditions.single_bytes = on; });
}

void TcpRelay::never_answer(bool on) {
  run([this, on] { set_never_answer(on); });
}

void TcpRelay::refuse(bool on) {
  run([this, on] { set_refuse(on); });
}

void TcpRelay::heal() {
  run([this] {
    RelayConditions& conditions = state_.conditions;
    conditions.black_to_server = conditions.black_to_client = conditions.single_bytes = false;
    conditions.delay = std::chrono::microseconds::zero();
    close_if([](const RelayedConnection& connection) { return connection.has_holes(); });
    set_never_answer(false);
    set_refuse(false);
  });
}

void TcpRelay::set_refuse(bool on) {
  if (on) {
    stop_listening();
    close_if(any);
  } else if (!listener_.is_open()) {
    listen();
  }
}

void TcpRelay::set_never_answer(bool on) {
  state_.conditions.never_answer = on;
  if (!on) close_if([](const RelayedConnection& connection) { return !connection.is_started(); });
}

void TcpRelay::listen() {
  try {
    listener_.open(address_.protocol());
    keep_to_ourselves(listener_.native_handle());
    listener_.set_option(tcp::acceptor::reuse_address(true));
    listener_.bind(address_);
    listener_.listen();
  } catch (const boost::system::system_error& failed) {
    stop_listening();
    const std::string what =
        "TCP relay cannot listen on its port " + std::to_string(address_.port()) + ": " + failed.what();
    std::cerr << what << std::endl;  // nobody receives the exception of a call from the relay's own thread
    throw std::runtime_error(what);
  }
  accept();
}

void TcpRelay::stop_listening() {
  error_code ignored;
  accept_pause_.cancel(ignored);
  listener_.close(ignored);
  ++listening_since_;
}

void TcpRelay::accept() {
  listener_.async_accept([this, generation = listening_since_](error_code failed, tcp::socket client) {
    if (generation != listening_since_) return;
    if (!failed) {
      accepted(std::move(client));
      accept();
      return;
    }
    std::cerr << "TCP relay cannot accept: " << failed.message() << std::endl;
    accept_pause_.expires_after(kPauseAfterFailedAccept);
    accept_pause_.async_wait([this](error_code cancelled) {
      if (!cancelled) accept();
    });
  });
}

void TcpRelay::accepted(Socket client) {
  close_if([](const RelayedConnection& connection) { return connection.is_closed(); });
  connections_.push_back(make_connection_(state_, std::move(client)));
  if (!state_.conditions.never_answer) connections_.back()->start(upstream_);
}

void TcpRelay::close_if(const Choice& choice, void (*how)(Socket&)) {
  const auto chosen = std::partition(connections_.begin(), connections_.end(),
                                     [&](const auto& connection) { return !choice(*connection); });
  std::for_each(chosen, connections_.end(), [&](const auto& connection) { connection->close(how); });
  connections_.erase(chosen, connections_.end());
}

}  // namespace testkit
