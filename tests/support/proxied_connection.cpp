// SPDX-License-Identifier: Apache-2.0
#include "tests/support/proxied_connection.h"

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <glog/logging.h>
#include <optional>
#include <utility>

namespace zkrecipes::testing {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

void keep_to_ourselves(int socket) {
  ::fcntl(socket, F_SETFD, FD_CLOEXEC);
}

void close_gracefully(tcp::socket& socket) {
  error_code ignored;
  socket.shutdown(tcp::socket::shutdown_both, ignored);
  socket.non_blocking(true, ignored);
  std::array<char, 4096> unread{};
  error_code end;
  while (!end && socket.is_open()) {
    socket.read_some(asio::buffer(unread), end);
  }
  socket.close(ignored);
}

void close_with_reset(tcp::socket& socket) {
  error_code ignored;
  socket.set_option(asio::socket_base::linger(true, 0), ignored);
  socket.close(ignored);
}

void ProxyShared::saw(Message message, long connection) {
  Observed observed{std::move(message), connection, Clock::now()};
  ledger.update([&](Ledger& now) {
    switch (observed.sort) {
      case Message::Sort::request:
        ++now.counts.requests[observed.kind];
        break;
      case Message::Sort::reply:
        ++now.counts.replies;
        break;
      case Message::Sort::watch_event:
        ++now.counts.watch_events;
        break;
    }
    if (now.trace.size() == FaultProxy::kTraceLength) {
      now.trace.pop_front();
    }
    now.trace.push_back(observed);
  });
  if (observer) {
    observer(observed);
  }
}

void ProxiedConnection::start(const tcp::endpoint& upstream) {
  started_ = true;
  has_holes_ = shared_.conditions.black_to_server || shared_.conditions.black_to_client;
  keep_to_ourselves(client_.native_handle());
  error_code not_opened;  // then connecting fails, too
  server_.open(upstream.protocol(), not_opened);
  if (!not_opened) keep_to_ourselves(server_.native_handle());
  server_.async_connect(upstream, [this, self = shared_from_this()](error_code failed) {
    if (closed_) {
      return;
    }
    if (failed) {
      source_ended(to_client_);
    } else {
      error_code ignored;
      server_.set_option(tcp::no_delay(true), ignored);
      read(to_client_);
    }
    if (!closed_ && !ending_) {
      read(to_server_);
    }
  });
}

void ProxiedConnection::read(Lane& lane) {
  lane.source.async_read_some(asio::buffer(lane.room),
                              [this, &lane, self = shared_from_this()](error_code failed, std::size_t bytes) {
                                if (closed_ || ending_ || lane.dried_up) {
                                  return;
                                }
                                if (failed) {
                                  source_ended(lane);
                                  return;
                                }
                                lane.splitter.append({lane.room.data(), bytes});
                                take_frames(lane);
                                if (!closed_ && !ending_) {
                                  pump(lane);
                                  read(lane);
                                }
                              });
}

void ProxiedConnection::take_frames(Lane& lane) {
  try {
    while (!closed_ && !ending_) {
      const std::optional<std::string_view> frame = lane.splitter.next();
      if (!frame) {
        return;
      }
      if (lane.to_server) {
        take_request(*frame);
      } else {
        take_reply(*frame);
      }
    }
  } catch (const MalformedFrame& malformed) {
    LOG(WARNING) << "fault proxy closes connection " << number_ << ": " << malformed.what()
                 << (lane.to_server ? " from the client" : " from the server");
    close();
  }
}

void ProxiedConnection::take_request(std::string_view frame) {
  const Message request = conversation_.request(frame);
  shared_.saw(request, number_);
  if (is_black(to_server_)) {
    return;
  }
  const std::optional<Fault> fault = shared_.plan.take_for(request.kind);
  if (!fault) {
    enqueue(to_server_, frame);
    return;
  }
  switch (fault->action) {
    case Fault::Action::drop_reply:
    case Fault::Action::hold_reply:
      faults_.emplace(request.ordinal, *fault);
      enqueue(to_server_, frame);
      break;
    case Fault::Action::answer_with_error:
      faults_.emplace(request.ordinal, *fault);
      enqueue(to_server_, request.kind == RequestKind::auth ? std::string(frame) : harmless_request(request.xid));
      break;
    case Fault::Action::cut_half_way:
      enqueue(to_server_, frame.substr(0, frame.size() / 2));
      finish(to_server_);
      shared_.fired();
      break;
    case Fault::Action::cut_before:
      finish(to_server_);
      shared_.fired();
      break;
  }
}

void ProxiedConnection::take_reply(std::string_view frame) {
  Message reply = conversation_.reply(frame);
  const auto fault = faults_.find(reply.ordinal);
  const bool is_replaced = fault != faults_.end() && fault->second.action == Fault::Action::answer_with_error;
  if (is_replaced) {
    reply.error = fault->second.error;
  }
  shared_.saw(reply, number_);
  if (is_black(to_client_)) {
    return;
  }
  if (fault == faults_.end()) {
    enqueue(to_client_, frame);
    return;
  }
  const Fault::Action action = fault->second.action;
  faults_.erase(fault);
  if (is_replaced) {
    enqueue(to_client_, error_reply(frame, reply.error));
  } else if (action == Fault::Action::drop_reply) {
    finish(to_client_);
  } else {
    enqueue(to_client_, frame, true);
  }
  shared_.fired();
}

void ProxiedConnection::source_ended(Lane& lane) {
  if (!is_black(lane)) {
    finish(lane);
    return;
  }
  lane.dried_up = true;
  Lane& back = opposite(lane);
  back.dead_end = true;
  back.queue.clear();
  close_socket(lane.source, close_gracefully);
  if (back.dried_up) {
    close();
  }
}

/// Ends the connection: at once towards the lane's source, and towards its sink behind what is already in the
/// lane.
void ProxiedConnection::finish(Lane& lane) {
  ending_ = true;
  Lane& back = opposite(lane);
  back.dead_end = true;
  back.queue.clear();
  close_socket(lane.source, close_gracefully);
  lane.last = true;
  pump(lane);
}

void ProxiedConnection::enqueue(Lane& lane, std::string_view bytes, bool held) {
  if (lane.dead_end) {
    return;
  }
  const milliseconds delay = shared_.conditions.delay;
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

void ProxiedConnection::pump(Lane& lane) {
  if (closed_ || lane.writing) {
    return;
  }
  if (is_black(lane)) {
    lane.queue.clear();
    return;
  }
  if (lane.queue.empty() || lane.dead_end) {
    if (lane.last) {
      close();
    }
    return;
  }
  Lane::Chunk& first = lane.queue.front();
  if (first.held) {
    return;
  }
  if (first.due > Clock::now()) {
    lane.timer.expires_at(first.due);
    lane.timer.async_wait([this, &lane, self = shared_from_this()](error_code cancelled) {
      if (!cancelled) {
        pump(lane);
      }
    });
    return;
  }
  const std::size_t most = shared_.conditions.single_bytes ? 1 : std::string::npos;
  std::string bytes = first.bytes.substr(first.delivered, most);
  first.delivered += bytes.size();
  if (first.delivered == first.bytes.size()) {
    lane.queue.pop_front();
  }
  write(lane, std::move(bytes));
}

void ProxiedConnection::write(Lane& lane, std::string bytes) {
  lane.in_write = std::move(bytes);
  lane.writing = true;
  shared_.ledger.update([&](Ledger& now) {
    (lane.to_server ? now.counts.bytes_to_server : now.counts.bytes_to_client) +=
        static_cast<long>(lane.in_write.size());
  });
  asio::async_write(lane.sink, asio::buffer(lane.in_write),
                    [this, &lane, self = shared_from_this()](error_code failed, std::size_t) {
                      lane.writing = false;
                      if (failed) {
                        lane.dead_end = true;  // that the sink is gone is noticed by the lane that reads from it
                        lane.queue.clear();
                      }
                      pump(lane);
                    });
}

void ProxiedConnection::black_hole_begins() {
  has_holes_ = true;
  for (Lane* lane : {&to_server_, &to_client_}) {
    if (is_black(*lane)) {
      lane->queue.clear();
    }
  }
}

void ProxiedConnection::release_held() {
  for (Lane::Chunk& chunk : to_client_.queue) {
    chunk.held = false;
  }
  pump(to_client_);
}

void ProxiedConnection::close_socket(tcp::socket& socket, void (*how)(tcp::socket&)) {
  if (!socket.is_open()) {
    return;
  }
  how(socket);
  if (&socket == &client_) {
    shared_.ledger.update([](Ledger& now) { --now.open_connections; });
  }
}

void ProxiedConnection::close(void (*how)(tcp::socket&)) {
  if (std::exchange(closed_, true)) {
    return;
  }
  to_server_.timer.cancel();
  to_client_.timer.cancel();
  close_socket(client_, how);
  close_socket(server_, how);
  std::for_each(faults_.rbegin(), faults_.rend(), [this](const auto& entry) { shared_.plan.arm_again(entry.second); });
  faults_.clear();
}

}  // namespace zkrecipes::testing
