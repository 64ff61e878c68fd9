// SPDX-License-Identifier: Apache-2.0
#include "testkit/relayed_connection.h"

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/write.hpp>
#include <fcntl.h>
#include <utility>

namespace testkit {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;

void keep_to_ourselves(int socket) {
  ::fcntl(socket, F_SETFD, FD_CLOEXEC);
}

void close_gracefully(tcp::socket& socket) {
  error_code ignored;
  socket.shutdown(tcp::socket::shutdown_both, ignored);
  socket.non_blocking(true, ignored);
  std::array<char, 4096> unread{};
  error_code end;
  while (!end && socket.is_open()) socket.read_some(asio::buffer(unread), end);
  socket.close(ignored);
}

void close_with_reset(tcp::socket& socket) {
  error_code ignored;
  socket.set_option(asio::socket_base::linger(true, 0), ignored);
  socket.close(ignored);
}

RelayedConnection::RelayedConnection(RelayState& state, Socket client)
    : state_(state), client_(std::move(client)), server_(client_.get_executor()) {
  keep_to_ourselves(client_.native_handle());
  error_code ignored;
  client_.set_option(tcp::no_delay(true), ignored);
}

void RelayedConnection::start(const Endpoints& upstream) {
  started_ = true;
  has_holes_ = state_.conditions.black_to_server || state_.conditions.black_to_client;
  asio::async_connect(server_, upstream, [this, self = shared_from_this()](error_code failed, const tcp::endpoint&) {
    if (closed_) return;
    if (failed) {
      source_ended(to_client_);
    } else {
      keep_to_ourselves(server_.native_handle());
      error_code ignored;
      server_.set_option(tcp::no_delay(true), ignored);
      read(to_client_);
    }
    if (!is_over()) read(to_server_);
  });
}

void RelayedConnection::read(Lane& lane) {
  lane.source.async_read_some(asio::buffer(lane.room),
                              [this, &lane, self = shared_from_this()](error_code failed, std::size_t bytes) {
                                if (is_over() || lane.dried_up) return;
                                if (failed) return source_ended(lane);
                                received(lane, {lane.room.data(), bytes});
                                if (is_over()) return;
                                pump(lane);
                                read(lane);
                              });
}

void RelayedConnection::received(Lane& lane, std::string_view bytes) {
  if (!is_black(lane)) enqueue(lane, bytes);
}

void RelayedConnection::handing_on(const Lane& lane, std::size_t bytes) {
  (lane.to_server ? state_.traffic.to_server : state_.traffic.to_client) += bytes;
}

bool RelayedConnection::is_black(const Lane& lane) const {
  return lane.to_server ? state_.conditions.black_to_server : state_.conditions.black_to_client;
}

void RelayedConnection::source_ended(Lane& lane) {
  if (!is_black(lane)) return finish(lane);
  lane.dried_up = true;
  give_up(lane);
  if (opposite(lane).dried_up) close();
}

void RelayedConnection::finish(Lane& lane) {
  ending_ = true;
  give_up(lane);
  lane.last = true;
  pump(lane);
}

/// Closes the lane's source, to which nothing can be delivered from now on.
void RelayedConnection::give_up(Lane& lane) {
  Lane& back = opposite(lane);
  back.dead_end = true;
  back.queue.clear();
  close_socket(lane.source, close_gracefully);
}

void RelayedConnection::enqueue(Lane& lane, std::string_view bytes, bool held) {
  if (lane.dead_end) return;
  const auto delay = state_.conditions.delay;
  Clock::time_point due = delay.count() > 0 ? Clock::now() + delay : Clock::time_point::min();
  if (!lane.queue.empty()) {
    due = std::max(due, lane.queue.back().due);
    if (due == lane.queue.back().due && !held) {
      lane.queue.back().bytes.append(bytes);
      return;
    }
  }
  lane.queue.push_back({std::string(bytes), due, held});
}

void RelayedConnection::pump(Lane& lane) {
  if (closed_ || lane.writing) return;
  if (is_black(lane)) {
    lane.queue.clear();
    return;
  }
  if (lane.queue.empty() || lane.dead_end) {
    if (lane.last) close();
    return;
  }
  const Lane::Chunk& first = lane.queue.front();
  if (first.held) return;
  if (first.due <= Clock::now()) return write(lane, take_due(lane));
  lane.timer.expires_at(first.due);
  lane.timer.async_wait([this, &lane, self = shared_from_this()](error_code cancelled) {
    if (!cancelled) pump(lane);
  });
}

std::string RelayedConnection::take_due(Lane& lane) const {
  std::string bytes;
  if (state_.conditions.single_bytes) {
    Lane::Chunk& first = lane.queue.front();
    bytes = first.bytes.substr(first.delivered++, 1);
    if (first.delivered == first.bytes.size()) lane.queue.pop_front();
    return bytes;
  }
  for (const auto now = Clock::now(); !lane.queue.empty(); lane.queue.pop_front()) {
    const Lane::Chunk& first = lane.queue.front();
    if (first.held || first.due > now) break;
    bytes.append(first.bytes, first.delivered);
  }
  return bytes;
}

void RelayedConnection::write(Lane& lane, std::string bytes) {
  lane.in_write = std::move(bytes);
  lane.writing = true;
  handing_on(lane, lane.in_write.size());
  asio::async_write(lane.sink, asio::buffer(lane.in_write),
                    [this, &lane, self = shared_from_this()](error_code failed, std::size_t) {
                      lane.writing = false;
                      if (failed) {
                        lane.dead_end = true;  // the lane that reads from this sink notices that it is closed
                        lane.queue.clear();
                      }
                      pump(lane);
                    });
}

void RelayedConnection::black_hole_begins() {
  has_holes_ = true;
  for (Lane* lane : {&to_server_, &to_client_})
    if (is_black(*lane)) lane->queue.clear();
}

void RelayedConnection::release_held() {
  for (Lane* lane : {&to_server_, &to_client_}) {
    for (Lane::Chunk& chunk : lane->queue) chunk.held = false;
    pump(*lane);
  }
}

void RelayedConnection::close_socket(Socket& socket, void (*how)(Socket&)) {
  if (!socket.is_open()) return;
  how(socket);
  if (&socket == &client_) client_closed();
}

void RelayedConnection::close(void (*how)(Socket&)) {
  if (std::exchange(closed_, true)) return;
  to_server_.timer.cancel();
  to_client_.timer.cancel();
  close_socket(client_, how);
  close_socket(server_, how);
  closed();
}

}  // namespace testkit
