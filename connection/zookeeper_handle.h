// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "connection/requests.h"
#include "zkrecipes/connection.h"

namespace zkrecipes::connection {

enum class SessionEvent { connected, disconnected, expired, auth_failed };

/// What a handle reports, on the C client's completion thread, in the order of the wire. `handle` is the number of the
/// handle that speaks: reports of an old one may still come while a new one is in use.
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
  std::string address;                ///< numeric; see resolve()
  std::optional<SessionKey> session;  ///< to be continued; a new one otherwise
  std::chrono::milliseconds session_timeout{};
  std::vector<Credential> credentials;
  std::optional<TlsOptions> tls;
};

/// Owns one zhandle_t (or borrows the program's), and translates between the C client's terms and ours. The C client
/// is given numbers instead of pointers, so that whatever it calls too late finds nobody rather than freed memory.
///
/// A handle of ours knows one address only. When it is disconnected, another handle continues the session at another
/// server, and this one is closed. Closing a handle that is connected ends the session, wherever it lives by then.
class ZookeeperHandle {
 public:
  /// Throws Error when the C client cannot make a handle.
  static std::unique_ptr<ZookeeperHandle> open(const HandleSettings& settings, const Acl& acl,
                                               const std::weak_ptr<HandleListener>& listener);
  static std::unique_ptr<ZookeeperHandle> borrow(zhandle_t* existing, const Acl& acl,
                                                 const std::weak_ptr<HandleListener>& listener);
  ~ZookeeperHandle();  ///< close()
  ZookeeperHandle(const ZookeeperHandle&) = delete;
  ZookeeperHandle& operator=(const ZookeeperHandle&) = delete;

  std::uint32_t number() const noexcept { return number_; }
  bool borrowed() const noexcept { return borrowed_; }

  /// A number for issue(), never used again.
  std::uint64_t next_request() noexcept;
  /// ok: on_reply() will come, unless the handle is closed or the session expires first. Otherwise it will not.
  Status issue(const Request& request, std::uint64_t number);

  SessionEvent state() const;  ///< as the C client sees it now; never auth_failed for a connecting handle
  /// The address has refused us, which the C client does not report. It would try again by itself after a while.
  bool was_refused() const;
  std::int64_t session_id() const;
  /// What another handle needs to continue the session. From then on this handle itself cannot: when it is
  /// disconnected, an attempt of the C client to connect it again is refused, so that it neither takes the session back
  /// nor ends it when it is closed.
  SessionKey hand_session_over();
  std::chrono::milliseconds session_timeout() const;

  /// For a borrowed handle: have session events reported from now on (or again). Harmless when repeated. Its reply
  /// comes as on_reply(), so it serves as heartbeat, too.
  Status listen_for_session_events(std::uint64_t number);

  /// Nothing is reported after it returns, except what a borrowed handle's thread has already begun to report.
  /// Ends the session unless borrowed; takes up to a few seconds when the server does not answer.
  void close() noexcept;

 private:
  struct AclTable;
  ZookeeperHandle(std::uint32_t number, bool borrowed, const Acl& acl);
  Status issue_unwatch(const Request& request, const void* context);

  const std::uint32_t number_;
  const bool borrowed_;
  const std::unique_ptr<AclTable> acl_;
  zhandle_t* handle_ = nullptr;  // null once closed
  std::int64_t session_id_ = 0;  // once it was handed over
  std::uint64_t last_request_ = 0;
};

/// False when the installed C client was built without TLS.
bool tls_available() noexcept;

}  // namespace zkrecipes::connection
