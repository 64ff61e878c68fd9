// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "connection/client.h"
#include "tests/support/answer.h"

namespace zkrecipes::testing {

using CreateAnswer = Answer<detail::Status, detail::CreatedNode>;
using RemoveAnswer = Answer<detail::Status>;
using ReplyAnswer = Answer<detail::Reply>;
using EventAnswer = Answer<detail::WatchEvent>;

/// A spec as the recipes use it: an ephemeral sequential node with its guid in the name. Guids are unique.
detail::CreateSpec queue_node(const std::string& parent);
/// The other kind: a fixed name, with the guid in the data.
detail::CreateSpec fixed_node(const std::string& parent, const std::string& name);

/// detail::Client for tests: `begin_...` starts a request in the session given or, by default, the current one;
/// the others also wait for the answer. Keeps the client alive, not the Connection.
class SyncClient {
 public:
  explicit SyncClient(Connection& connection) : client_(client_of(connection)) {}
  explicit SyncClient(std::shared_ptr<detail::Client> client) : client_(std::move(client)) {}

  detail::Client& client() const { return *client_; }
  /// Waits until there is one; throws std::runtime_error if there is none in time, or when closed.
  detail::SessionPtr session() const;

  CreateAnswer begin_create(detail::CreateSpec spec, detail::SessionPtr session = nullptr) const;
  RemoveAnswer begin_remove(const std::string& path, std::int64_t czxid = 0,
                            detail::SessionPtr session = nullptr) const;
  ReplyAnswer begin(detail::RequestKind kind, const std::string& path,
                    detail::SessionPtr session = nullptr) const;  ///< exists, get, list, sync
  ReplyAnswer begin_set(const std::string& path, const std::string& data, std::int32_t version,
                        detail::SessionPtr session = nullptr) const;

  /// Throws std::runtime_error unless the answer is ok.
  detail::CreatedNode create(detail::CreateSpec spec) const;
  detail::Status remove(const std::string& path) const { return begin_remove(path).part(); }
  detail::Reply exists(const std::string& path) const { return answer(detail::RequestKind::exists, path); }
  detail::Reply get(const std::string& path) const { return answer(detail::RequestKind::get, path); }
  detail::Reply list(const std::string& path) const { return answer(detail::RequestKind::list, path); }
  detail::Reply sync(const std::string& path) const { return answer(detail::RequestKind::sync, path); }
  detail::Reply set(const std::string& path, const std::string& data, std::int32_t version = -1) const {
    return begin_set(path, data, version).part();
  }

  struct Watch {
    detail::WatchId id = 0;
    ReplyAnswer reply;
    EventAnswer event;
  };
  Watch begin_watch(const std::string& path, detail::SessionPtr session = nullptr) const;
  Watch begin_watch_children(const std::string& path, detail::SessionPtr session = nullptr) const;
  void unwatch(const Watch& watch) const { client_->unwatch(watch.id); }

 private:
  detail::Reply answer(detail::RequestKind kind, const std::string& path) const { return begin(kind, path).part(); }
  detail::SessionPtr or_current(detail::SessionPtr session) const {
    return session ? std::move(session) : this->session();
  }

  const std::shared_ptr<detail::Client> client_;
};

}  // namespace zkrecipes::testing

namespace zkrecipes::detail {
inline void PrintTo(Status status, std::ostream* out) {
  *out << to_string(status);
}
}  // namespace zkrecipes::detail
