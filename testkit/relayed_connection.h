// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/error_code.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace testkit {

/// Closes with FIN. Reads first what the peer has sent, because closing over unread bytes would send RST.
void close_gracefully(boost::asio::ip::tcp::socket& socket);
void close_with_reset(boost::asio::ip::tcp::socket& socket);
/// Programs that are started meanwhile do not inherit the socket: they would keep it open after we have closed it.
void keep_to_ourselves(int socket);

/// The conditions for all connections of a relay.
struct RelayConditions {
  bool black_to_server = false;
  bool black_to_client = false;
  std::chrono::microseconds delay{0};
  bool single_bytes = false;
  bool never_answer = false;
};

/// Bytes that were handed on, over all connections.
struct Traffic {
  std::atomic<std::uint64_t> to_server{0};
  std::atomic<std::uint64_t> to_client{0};
};

/// Shared by the connections of one relay. Used on the relay's thread only, but for the traffic.
struct RelayState {
  RelayConditions conditions;
  Traffic traffic;
};

/// A client's connection and the one to the server that belongs to it. Passes bytes on unchanged; a derived class may
/// look at them and decide. Lives until it is closed and its handlers have run. Used on the relay's thread only.
class RelayedConnection : public std::enable_shared_from_this<RelayedConnection> {
 public:
  using Socket = boost::asio::ip::tcp::socket;
  using Endpoints = std::vector<boost::asio::ip::tcp::endpoint>;

  RelayedConnection(RelayState& state, Socket client);
  virtual ~RelayedConnection() = default;
  RelayedConnection(const RelayedConnection&) = delete;
  RelayedConnection& operator=(const RelayedConnection&) = delete;

  /// Connects to the first of the endpoints that accepts.
  void start(const Endpoints& upstream);
  void close(void (*how)(Socket&) = close_gracefully);
  void black_hole_begins();
  /// Delivers what was enqueued as held.
  void release_held();

  bool is_closed() const { return closed_; }
  bool has_holes() const { return has_holes_; }
  bool is_started() const { return started_; }

 protected:
  /// One way through the connection.
  struct Lane {
    static constexpr std::size_t kReadBytes = 64 * 1024;

    Lane(Socket& from, Socket& to, bool leads_to_server)
        : source(from), sink(to), to_server(leads_to_server), timer(from.get_executor()), room(kReadBytes) {}

    struct Chunk {
      std::string bytes;
      std::chrono::steady_clock::time_point due;
      bool held = false;
      std::size_t delivered = 0;
    };

    // constant after construction
    Socket& source;
    Socket& sink;
    const bool to_server;

    std::deque<Chunk> queue;
    boost::asio::steady_timer timer;  // for the first chunk to become due
    std::vector<char> room;
    std::string in_write;
    bool writing = false;
    bool last = false;      // close the connection when the queue is empty
    bool dead_end = false;  // the sink is closed: nothing more can be delivered
    bool dried_up = false;  // the source is closed
  };

  /// Bytes have been read from the lane's source.
  virtual void received(Lane& lane, std::string_view bytes);
  /// Bytes are about to be written to the lane's sink.
  virtual void handing_on(const Lane& lane, std::size_t bytes);
  virtual void client_closed() {}
  virtual void closed() {}

  void enqueue(Lane& lane, std::string_view bytes, bool held = false);
  /// Ends the connection: at once towards the lane's source, and towards its sink behind what is already in the lane.
  void finish(Lane& lane);
  bool is_black(const Lane& lane) const;
  bool is_over() const { return closed_ || ending_; }

  Lane& to_server() { return to_server_; }
  Lane& to_client() { return to_client_; }

 private:
  void read(Lane& lane);
  void source_ended(Lane& lane);
  void give_up(Lane& lane);
  void pump(Lane& lane);
  std::string take_due(Lane& lane) const;
  void write(Lane& lane, std::string bytes);
  Lane& opposite(const Lane& lane) { return lane.to_server ? to_client_ : to_server_; }
  void close_socket(Socket& socket, void (*how)(Socket&));

  RelayState& state_;
  Socket client_;
  Socket server_;
  Lane to_server_{client_, server_, true};
  Lane to_client_{server_, client_, false};
  bool started_ = false;
  bool has_holes_ = false;
  bool ending_ = false;  // one side is closed, the other one receives what is on its way
  bool closed_ = false;
};

}  // namespace testkit
