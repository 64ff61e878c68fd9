// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>

#include "zkrecipes/connection_options.h"
#include "zkrecipes/error.h"
#include "zkrecipes/subscription.h"

// The C client's handle, as its header declares it.
struct _zhandle;
typedef struct _zhandle zhandle_t;

namespace zkrecipes {

using Clock = std::chrono::steady_clock;

/// connecting: no session yet. connected: requests pass. suspended: disconnected, the session may still live.
/// lost: the session is over, a new one is being made. closed: final.
enum class ConnectionState { connecting, connected, suspended, lost, closed };

const char* to_string(ConnectionState state) noexcept;
std::ostream& operator<<(std::ostream& out, ConnectionState state);

namespace detail {
class Client;
}

/// A connection to a ZooKeeper ensemble that outlives its sessions: after a session is over it makes a new one by
/// itself, for ever unless RetryPolicy says otherwise. One per process is enough: all threads and locks can share it.
///
///     zkrecipes::Connection connection("zk1:2181,zk2:2181,zk3:2181/my-service");
///     if (!connection.wait_until_connected(std::chrono::seconds(10))) return complain();
///     auto subscription = connection.on_state_change([](zkrecipes::ConnectionState s) { std::cerr << s << "\n"; });
///     zkrecipes::FairMutex mutex(connection, "/locks/orders");
///
/// Thread-safety: all members may be called from any thread, except that the destructor must not run beside another
/// call.
///
/// Lifetime: locks, holds, pending holds and subscriptions made on a connection may outlive it, in any order. Their
/// calls then throw ConnectionClosed, and the holds are lost, because the session ends with the connection. So it has
/// to be kept for as long as a hold is needed. After fork() the child may only destroy the connection; calls that need
/// the server throw Error(forked).
///
/// Blocking: constructors return at once, and throw std::system_error when the system has no thread to give.
/// wait_until_connected(), close() and the destructor block. Blocking calls of the library made inside callbacks on the
/// connection's threads, or elsewhere on threads of the library (in a log sink, for example), throw std::logic_error.
///
/// What a callback owns may be destroyed on a thread of the library, and may own the connection. close() and the
/// destructor then return at once, the connection is closed, and another thread waits for the rest.
///
/// Callbacks run on three threads that belong to this object: on_ready() and LockOptions::on_revoke on one, on_lost()
/// on another, on_state_change() on the third, so that a slow callback delays only those of its own thread. On each
/// thread they run one at a time and in order; callbacks of different threads may run at the same time. Exceptions of
/// callbacks are logged and dropped.
///
/// When the destructor, or close(), returns, no callback is running and none that was registered before will run: all
/// callbacks that were due have been called. Inside a callback both return without waiting for callbacks, because a
/// callback cannot wait for itself; those that are due are then called soon after. Callbacks that are registered later,
/// on a PendingHold or a lost hold that outlives the connection, are called, too, on a thread that is started for them;
/// the connection waits for those only if they are registered before its destructor is called.
///
/// With ConnectionOptions::executor these threads hand the callbacks over instead of running them:
/// - The executor is called on each of the three threads, without a lock of the library. It must be thread-safe and
///   should return soon: the callbacks behind this one wait for it, and so does close(). So it must not wait until
///   another thread has run the callback.
/// - It may run what it is given at once, later, on any thread, or never. An executor with several threads may run
///   several callbacks at once and in any order, also those of one subscription to on_state_change(), and on_revoke
///   ahead of the on_ready() of the same hold; a strand or a queue with one thread keeps the order.
/// - What it is given runs at most once and throws nothing. It owns all that it needs, and does nothing when its
///   PendingHold was destroyed or its Subscription disconnected before it began.
/// - If the executor throws, that is logged, and the callback runs on the connection's thread, because the program
///   must hear of a lost hold.
/// - In callbacks that run on threads of the program, blocking calls of the library are allowed.
/// - close() and the destructor hand over all callbacks that are due, and do not wait until they have run.
/// - The executor is kept until the connection and everything that was made on it are gone. Everything that the
///   executor refers to, for example an io_context, must live that long.
class Connection {
 public:
  /// Start connecting and return at once. Throws std::invalid_argument on bad input.
  explicit Connection(std::string servers);
  explicit Connection(ConnectionOptions options);

  /// Use a handle that the program already has. The Connection never closes it; the handle's watcher stays in place and
  /// receives every event. Destroy the Connection before the handle. When the handle's session expires the Connection
  /// closes, because only the program can make a new handle.
  explicit Connection(zhandle_t* existing);
  Connection(zhandle_t* existing, ConnectionOptions options);  ///< servers, session_timeout, credentials, tls: unused

  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Blocks until connected or until the time is over, and then returns false. Throws ConnectionClosed (or
  /// NotAuthorized) when it will never be connected.
  bool wait_until_connected(std::chrono::milliseconds timeout);

  ConnectionState state() const noexcept;
  std::int64_t session_id() const noexcept;                    ///< 0 while there is no session
  std::chrono::milliseconds session_timeout() const noexcept;  ///< as negotiated; as asked for until then

  /// States arrive in order, each once. The state at the time of the call is not reported. Throws std::invalid_argument
  /// if the callback is empty, Error(forked) in the child of a fork.
  [[nodiscard]] Subscription on_state_change(std::function<void(ConnectionState)> callback);

  /// From now on the servers are these, written as in ConnectionOptions::servers: for servers that were added to the
  /// ensemble, replaced or removed. The session and its holds stay. Returns at once; names are resolved later.
  ///
  /// While connected to one of them, nothing changes until the next reconnect. While connected to a server that is not
  /// among them, the session moves: one of them is asked to take it over, and until it has, everything goes on at the
  /// old server. So a list of servers that do not answer, or that belong to another ensemble and do not know the
  /// session, costs nothing but attempts, as long as the old server can be reached. Requests that are under way when
  /// the session moves are resolved as after a lost connection; the state may be `suspended` for a moment. While not
  /// connected, the attempt to reach a server that is not among them is given up, and the next one begins at once.
  ///
  /// Names that do not resolve are looked up again. As long as none does, the servers known before are used, and a
  /// connected session stays until all have been resolved, because its server may be one of them.
  ///
  /// Throws std::invalid_argument, and changes nothing, if the list cannot be read or has another chroot than this
  /// connection (a list without a chroot keeps it); ConnectionClosed (or NotAuthorized) if closed; std::logic_error if
  /// the connection uses a handle of the program.
  void set_servers(std::string servers);

  /// Ends the session, so that its locks are free at once if the server can be reached. Calls that wait throw
  /// ConnectionClosed. Blocks for up to a few seconds if the server does not answer. Waits for callbacks, see above.
  void close() noexcept;

 private:
  friend std::shared_ptr<detail::Client> client_of(Connection& connection);
  std::shared_ptr<detail::Client> client_;
};

}  // namespace zkrecipes
