// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "connection/requests.h"
#include "zkrecipes/connection_options.h"

namespace zkrecipes::detail {

enum class SessionEvent { connected, disconnected, expired, auth_failed };

/// What a handle reports, one report at a time and in the order of the wire. `handle` is the number of the handle that
/// speaks: reports of an old one may still come while a new one is in use.
class HandleListener {
 public:
  virtual ~HandleListener() = default;
  virtual void on_session_event(std::uint32_t handle, SessionEvent event) = 0;
  /// `answered`: by the server itself, in this session.
  virtual void on_reply(std::uint64_t request, Reply reply, bool answered) = 0;
  virtual void on_watch_event(std::uint32_t handle, const std::string& path, WatchEvent event) = 0;
};

/// What lets a new handle take over the session of an earlier one.
struct SessionKey {
  std::int64_t id = 0;
  std::array<char, 16> password{};
};

struct HandleSettings {
  std::string address;                ///< numeric; see World::resolve()
  std::optional<SessionKey> session;  ///< to be continued; a new one otherwise
  std::chrono::milliseconds session_timeout{};
  std::vector<Credential> credentials;
  std::optional<TlsOptions> tls;
  /// Given what the C client says is wrong, on any thread; must neither block nor call back. Empty: glog.
  std::function<void(const std::string&)> log;
};

/// One connection of a session with one server, made by the C client or by whatever stands in for it. When it is
/// disconnected, another handle continues the session at another server, and this one is closed. Closing a handle that
/// is connected ends the session, wherever it lives by then.
///
/// The owner guards it: one call at a time, with the exception of close(). Reports may come at any time, on a thread of
/// the handle's; nothing is reported inside a call.
class Handle {
 public:
  virtual ~Handle() = default;  ///< close()

  virtual std::uint32_t number() const noexcept = 0;
  /// Whether it belongs to the program, with its session.
  virtual bool borrowed() const noexcept = 0;

  /// A number for issue(), larger than all before.
  virtual std::uint64_t next_request() noexcept = 0;
  /// ok: on_reply() will come, unless the handle is closed or the session expires first. Otherwise it will not.
  virtual Status issue(const Request& request, std::uint64_t number) = 0;

  virtual SessionEvent state() const = 0;  ///< as the handle sees it now; never auth_failed for a connecting handle
  /// The address has refused us, which is not reported. The C client would try again by itself after a while.
  virtual bool was_refused() const = 0;
  virtual std::int64_t session_id() const = 0;
  /// As negotiated.
  virtual std::chrono::milliseconds session_timeout() const = 0;
  /// What another handle needs to continue the session. From then on this handle itself cannot: when it is
  /// disconnected, an attempt of the C client to connect it again is refused, so that it neither takes the session back
  /// nor ends it when it is closed.
  virtual SessionKey hand_session_over() = 0;

  /// For a borrowed handle: have session events reported from now on (or again). Harmless when repeated. Its reply
  /// comes as on_reply(), so it serves as heartbeat, too.
  virtual Status listen_for_session_events(std::uint64_t number) = 0;

  /// Nothing is reported after it returns, except what a borrowed handle's thread has already begun to report.
  /// Ends the session unless borrowed; takes up to a few seconds when the server does not answer.
  virtual void close() noexcept = 0;
};

}  // namespace zkrecipes::detail
