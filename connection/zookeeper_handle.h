// SPDX-License-Identifier: Apache-2.0
#pragma once

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
  /// `proves_session`: the server itself has answered.
  virtual void on_reply(std::uint64_t request, Reply reply, bool proves_session) = 0;
  virtual void on_watch_event(std::uint32_t handle, const std::string& path, WatchEvent event) = 0;
};

struct HandleSettings {
  std::string addresses;  ///< numeric; see resolve()
  std::chrono::milliseconds session_timeout{};
  std::vector<Credential> credentials;
  std::optional<TlsOptions> tls;
};

/// Owns one zhandle_t (or borrows the program's), and translates between the C client's terms and ours. The C client
/// is given numbers instead of pointers, so that whatever it calls too late finds nobody rather than freed memory.
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
  std::int64_t session_id() const;
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
  std::uint64_t last_request_ = 0;
};

/// False when the installed C client was built without TLS.
bool tls_available() noexcept;

}  // namespace zkrecipes::connection
