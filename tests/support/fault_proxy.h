// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "testkit/direction.h"
#include "tests/support/zookeeper_frames.h"

namespace zkrecipes::testing {

using testkit::Direction;

/// A request, reply or watch event at the moment the proxy had read all of it.
struct Observed : Message {
  long connection = 0;  // counted from 1 in the order in which the proxy accepted them
  std::chrono::steady_clock::time_point time;
};

std::ostream& operator<<(std::ostream& out, const Observed& observed);

/// A relay (testkit::TcpRelay) that understands ZooKeeper's frames, passes them on, and injects faults on request.
///
/// There are two kinds of faults. One-shot faults hit one chosen request. They count requests of their kind over all
/// connections from the call that arms them. A request is hit by at most one fault, the one armed first; a fault that
/// was due at the same request stays due for the next of its kind, so arming one twice hits two requests in a row. A
/// fault on a reply whose connection ends before the reply is received has not fired: it is due again at the next
/// request of its kind. Standing conditions hold for all connections until heal(). One-shot faults do not apply to
/// frames that vanish in a black hole.
///
/// Frames before a fault on the same connection are undisturbed: requests sent before a cut request reach the server,
/// replies received before a dropped one reach the client.
///
/// Frames are passed on when they are whole. The connection of a stream that is not ZooKeeper's protocol (four-letter
/// words too) is closed. When one side closes, the other side is closed after it has received what was on its way.
///
/// Threads: one thread of its own does all the work. Any thread may call; a call has taken effect when it returns. The
/// observer runs on the proxy's thread and may call too: its calls take effect after it has returned, and waits answer
/// at once. It must not block, throw or destroy the proxy. The destructor closes all connections, discards what is held
/// or delayed, and waits for nothing but a running observer.
class FaultProxy {
 public:
  /// `upstream` is "address:port" with a numeric address. Throws std::invalid_argument if it is not.
  explicit FaultProxy(const std::string& upstream);
  ~FaultProxy();
  FaultProxy(const FaultProxy&) = delete;
  FaultProxy& operator=(const FaultProxy&) = delete;

  /// "127.0.0.1:port". The port is the proxy's own for life, also while it refuses.
  std::string address() const;
  /// For connections made from now on.
  void set_upstream(const std::string& upstream);

  // One-shot faults, for the nth request of the kind from now (1 = the next; less throws
  // std::invalid_argument)

  /// The server gets and answers the request; the answer is swallowed and the connection cut.
  void drop_reply(RequestKind kind, int nth = 1);
  /// Half of the request's bytes reach the server, then the connection is cut: never applied.
  void cut_request_half_way(RequestKind kind, int nth = 1);
  /// The request is swallowed and the connection cut: never applied.
  void cut_before_request(RequestKind kind, int nth = 1);
  /// The reply, and everything behind it to the same client (the end of the connection too), waits for
  /// release_held(). Fires when the reply is received. heal() releases nothing; closing the connection throws
  /// away what is held.
  void hold_reply(RequestKind kind, int nth = 1);
  void release_held();
  /// The next `times` requests of the kind are answered with this error of ZooKeeper's and not carried out (but for
  /// auth, which the server never refuses to this proxy). The connection stays. Throws std::invalid_argument for
  /// connect, ping and set_watches.
  void answer_with_error(RequestKind kind, std::int32_t error, int times = 1);

  /// Faults that have not fired.
  int armed() const;
  /// False if faults are still armed at the limit.
  bool wait_until_fired(std::chrono::milliseconds limit) const;
  /// Disarms; does not release what is held.
  void clear_faults();

  // Standing conditions

  /// Closes all connections (FIN); new ones are accepted.
  void cut();
  /// Closes all connections with RST on both sides; new ones are accepted.
  void reset();
  /// Bytes in this direction, delayed or held ones too, and the end of the connection vanish, now and on
  /// connections to come. Adds to directions that are black already.
  void black_hole(Direction direction = Direction::both);
  /// For bytes that are read from now on, each way; 0 is off. Order is kept.
  void delay(std::chrono::milliseconds each_way);
  /// Every byte in a write (with TCP_NODELAY: a segment) of its own.
  void deliver_single_bytes(bool on);
  /// New connections are accepted and never read. Turning it off cuts them.
  void never_answer(bool on);
  /// Existing connections are cut and new ones refused by the operating system.
  void refuse(bool on);
  /// All standing conditions off. Cuts the connections that lived through a black hole or were never
  /// answered, for their streams have holes; the others live on.
  void heal();

  struct Counts {
    std::map<RequestKind, long> requests;  // as read from clients, passed on or not
    long bytes_to_server = 0;              // handed on
    long bytes_to_client = 0;
    long connections = 0;   // accepted
    long replies = 0;       // as read from the server, of every kind
    long watch_events = 0;  // as read from the server

    long of(RequestKind kind) const;
    long requests_total() const;
    /// Without the upkeep of the session: connect, ping, auth, set_watches, close_session.
    long operations() const;
  };

  /// Since construction or reset_counts(), which also empties the trace.
  Counts counts() const;
  void reset_counts();
  /// Waits until the condition holds; false at the limit. It is called on the caller's thread and must not
  /// use the proxy.
  bool wait_until(const std::function<bool(const Counts&)>& condition, std::chrono::milliseconds limit) const;
  /// Connections to clients that are open now.
  int open_connections() const;
  bool wait_until_open_connections(int number, std::chrono::milliseconds limit) const;

  /// Called for everything that passes, in order, on the proxy's thread. An empty function ends it.
  void observe(std::function<void(const Observed&)> observer);
  /// The newest kTraceLength things that passed, oldest first. Always on, for tests to judge or to print.
  std::vector<Observed> trace() const;
  static constexpr std::size_t kTraceLength = 4096;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace zkrecipes::testing
