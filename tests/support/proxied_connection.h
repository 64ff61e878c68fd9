// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio.hpp>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/proxy_faults.h"
#include "tests/support/zookeeper_frames.h"

namespace zkrecipes::testing {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

/// Closes with FIN. What the peer has sent is read first, for closing over unread bytes would send RST.
/// Programs that are started meanwhile do not inherit it: they would keep it open after we have closed it.
void keep_to_ourselves(int socket);
void close_gracefully(tcp::socket& socket);
void close_with_reset(tcp::socket& socket);

/// One way through a connection.
struct Lane {
  static constexpr std::size_t kReadBytes = 64 * 1024;

  Lane(tcp::socket& from, tcp::socket& to, bool leads_to_server)
      : source(from), sink(to), to_server(leads_to_server), timer(from.get_executor()), room(kReadBytes) {}

  struct Chunk {
    std::string bytes;
    std::chrono::steady_clock::time_point due;
    bool held = false;
    std::size_t delivered = 0;
  };

  // constant after construction
  tcp::socket& source;
  tcp::socket& sink;
  const bool to_server;

  FrameSplitter splitter;
  std::deque<Chunk> queue;
  asio::steady_timer timer;  // for the first chunk to become due
  std::vector<char> room;
  std::string in_write;
  bool writing = false;
  bool last = false;      // close the connection when the queue is empty
  bool dead_end = false;  // the sink is gone: nothing more can be delivered
  bool dried_up = false;  // the source is gone
};

/// A client's connection and the one to the server that belongs to it. Lives until closed and its handlers
/// have run.
class ProxiedConnection : public std::enable_shared_from_this<ProxiedConnection> {
 public:
  ProxiedConnection(ProxyShared& shared, long number, tcp::socket client)
      : shared_(shared), number_(number), client_(std::move(client)), server_(client_.get_executor()) {
    error_code ignored;
    client_.set_option(tcp::no_delay(true), ignored);
  }

  void start(const tcp::endpoint& upstream);
  void close(void (*how)(tcp::socket&) = close_gracefully);
  void black_hole_begins();
  void release_held();
  void forget_faults() { faults_.clear(); }

  bool is_closed() const { return closed_; }
  bool has_holes() const { return has_holes_; }
  bool is_started() const { return started_; }

 private:
  void read(Lane& lane);
  void take_frames(Lane& lane);
  void take_request(std::string_view frame);
  void take_reply(std::string_view frame);
  void source_ended(Lane& lane);
  void finish(Lane& lane);
  void enqueue(Lane& lane, std::string_view bytes, bool held = false);
  void pump(Lane& lane);
  void write(Lane& lane, std::string bytes);
  bool is_black(const Lane& lane) const {
    return lane.to_server ? shared_.conditions.black_to_server : shared_.conditions.black_to_client;
  }
  Lane& opposite(const Lane& lane) { return lane.to_server ? to_client_ : to_server_; }
  void close_socket(tcp::socket& socket, void (*how)(tcp::socket&));

  ProxyShared& shared_;
  const long number_;
  tcp::socket client_;
  tcp::socket server_;
  Lane to_server_{client_, server_, true};
  Lane to_client_{server_, client_, false};
  Conversation conversation_;
  std::map<long, Fault> faults_;  // by the ordinal of the request whose reply they wait for
  bool started_ = false;
  bool has_holes_ = false;
  bool ending_ = false;  // one side is closed, the other gets what is on its way
  bool closed_ = false;
};

}  // namespace zkrecipes::testing
