// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/signals2/connection.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>

#include "zkrecipes/connection_options.h"
#include "zkrecipes/error.h"

// The C client's handle, as its header declares it.
struct _zhandle;
typedef struct _zhandle zhandle_t;

namespace zkrecipes {

using Clock = std::chrono::steady_clock;

/// Unsubscribes when destroyed. A callback that has already begun may still be running at that moment.
using Subscription = boost::signals2::scoped_connection;

/// connecting: no session yet. connected: requests pass. suspended: disconnected, the session may still live.
/// lost: the session is over, a new one is being made. closed: final.
enum class ConnectionState { connecting, connected, suspended, lost, closed };

const char* to_string(ConnectionState state) noexcept;
std::ostream& operator<<(std::ostream& out, ConnectionState state);

namespace connection {
class Client;
}

/// A connection to a ZooKeeper ensemble that outlives its sessions: after a session is over it makes a new one by
/// itself, for ever unless RetryPolicy says otherwise.
///
/// Thread-safe. Locks made on it may be used from any thread, and may outlive it: they then answer ConnectionClosed.
/// After fork() the child may only destroy it.
///
/// Callbacks run on two threads that belong to this object: on_ready() and LockOptions::on_revoke on one, on_lost() and
/// on_state_change() on the other, so that a slow on_ready() does not delay the news of a lost hold. On each thread
/// they run one at a time and in order; a callback of one thread may run at the same time as a callback of the other.
/// Blocking calls of the library made inside callbacks throw std::logic_error. Exceptions of callbacks are logged and
/// dropped.
///
/// When the destructor, or close(), returns, no callback is running and none that was registered before will run: all
/// that were due have been called. Inside a callback both return without waiting for callbacks, since that could be
/// waiting for themselves; what is due is then called soon after. Callbacks that are registered later, on a PendingHold
/// or a lost hold that outlives the connection, are called, too, on a thread that is started for them; the connection
/// waits for those only if they are registered before its destructor is called.
class Connection {
 public:
  /// Start connecting and return at once. Throws std::invalid_argument on bad input.
  explicit Connection(std::string servers);
  explicit Connection(ConnectionOptions options);

  /// Use a handle the program already has. It is never closed here, its watcher stays in place and gets every event.
  /// Destroy the Connection before the handle. When the handle's session expires the Connection closes, because
  /// only the program can make a new handle.
  explicit Connection(zhandle_t* existing);
  Connection(zhandle_t* existing, ConnectionOptions options);  ///< servers, session_timeout, credentials, tls: unused

  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// False when the time is over first. Throws ConnectionClosed (or NotAuthorized) when it will never be connected.
  bool wait_until_connected(std::chrono::milliseconds timeout);

  ConnectionState state() const noexcept;
  std::int64_t session_id() const noexcept;                    ///< 0 while there is no session
  std::chrono::milliseconds session_timeout() const noexcept;  ///< as negotiated; as asked for until then

  /// States arrive in order, each once. The state at the time of the call is not reported.
  [[nodiscard]] Subscription on_state_change(std::function<void(ConnectionState)> callback);

  /// Ends the session, so that its locks are free at once if the server can be reached. Everybody who waits gets
  /// ConnectionClosed. Takes up to a few seconds with a server that does not answer. Waits for callbacks, see above.
  void close() noexcept;

 private:
  friend std::shared_ptr<connection::Client> client_of(Connection& connection);
  std::shared_ptr<connection::Client> client_;
};

}  // namespace zkrecipes
