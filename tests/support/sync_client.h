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

using CreateAnswer = Answer<connection::Status, connection::CreatedNode>;
using RemoveAnswer = Answer<connection::Status>;
using ReplyAnswer = Answer<connection::Reply>;
using EventAnswer = Answer<connection::WatchEvent>;

/// A spec as the recipes use it: an ephemeral sequential node with its guid in the name. Guids are unique.
connection::CreateSpec queue_node(const std::string& parent);
/// The other kind: a fixed name, with the guid in the data.
connection::CreateSpec fixed_node(const std::string& parent, const std::string& name);

/// connection::Client for tests: `begin_...` starts a request in the session given or, by default, the current one;
/// the others also wait for the answer. Keeps the client alive, not the Connection.
class SyncClient {
 public:
  explicit SyncClient(Connection& connection) : client_(client_of(connection)) {}
  explicit SyncClient(std::shared_ptr<connection::Client> client) : client_(std::move(client)) {}

  connection::Client& client() const { return *client_; }
  /// Waits until there is one; throws std::runtime_error if none comes, or when closed.
  connection::SessionPtr session() const;

  CreateAnswer begin_create(connection::CreateSpec spec, connection::SessionPtr session = nullptr) const;
  RemoveAnswer begin_remove(const std::string& path, std::int64_t czxid = 0,
                            connection::SessionPtr session = nullptr) const;
  ReplyAnswer begin(connection::RequestKind kind, const std::string& path,
                    connection::SessionPtr session = nullptr) const;  ///< exists, get, list, sync
  ReplyAnswer begin_set(const std::string& path, const std::string& data, std::int32_t version,
                        connection::SessionPtr session = nullptr) const;

  /// Throws std::runtime_error unless the answer is ok.
  connection::CreatedNode create(connection::CreateSpec spec) const;
  connection::Status remove(const std::string& path) const { return begin_remove(path).part(); }
  connection::Reply exists(const std::string& path) const { return answer(connection::RequestKind::exists, path); }
  connection::Reply get(const std::string& path) const { return answer(connection::RequestKind::get, path); }
  connection::Reply list(const std::string& path) const { return answer(connection::RequestKind::list, path); }
  connection::Reply sync(const std::string& path) const { return answer(connection::RequestKind::sync, path); }
  connection::Reply set(const std::string& path, const std::string& data, std::int32_t version = -1) const {
    return begin_set(path, data, version).part();
  }

  struct Watch {
    connection::WatchId id = 0;
    ReplyAnswer reply;
    EventAnswer event;
  };
  Watch begin_watch(const std::string& path, connection::SessionPtr session = nullptr) const;
  Watch begin_watch_children(const std::string& path, connection::SessionPtr session = nullptr) const;
  void unwatch(const Watch& watch) const { client_->unwatch(watch.id); }

 private:
  connection::Reply answer(connection::RequestKind kind, const std::string& path) const {
    return begin(kind, path).part();
  }
  connection::SessionPtr or_current(connection::SessionPtr session) const {
    return session ? std::move(session) : this->session();
  }

  const std::shared_ptr<connection::Client> client_;
};

}  // namespace zkrecipes::testing

namespace zkrecipes::connection {
inline void PrintTo(Status status, std::ostream* out) {
  *out << to_string(status);
}
}  // namespace zkrecipes::connection
