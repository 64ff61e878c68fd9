// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "connection/requests.h"

namespace zkrecipes::simulation {

template <class T>
using Counted = boost::intrusive_ref_counter<T, boost::thread_unsafe_counter>;

/// Number of a client's connection; never used twice.
using ConnectionId = std::uint64_t;

/// What a client, or a server on its behalf, asks for.
struct ClientRequest : Counted<ClientRequest> {
  enum class Kind { ordinary, ping, create_session, close_session, delete_container };

  Kind kind = Kind::ordinary;
  detail::Request request;   // of an ordinary one
  std::uint64_t number = 0;  // by which the client knows it
  std::int64_t session = 0;
  std::int32_t timeout_ms = 0;  // of create_session
  // Where the answer goes.
  int server = -1;
  ConnectionId connection = 0;  // 0: nobody waits for it

  bool is_write() const {
    using detail::RequestKind;
    return kind != Kind::ping && (kind != Kind::ordinary || request.kind == RequestKind::create ||
                                  request.kind == RequestKind::remove || request.kind == RequestKind::set);
  }
  bool is_sync() const { return kind == Kind::ordinary && request.kind == detail::RequestKind::sync; }
};
using ClientRequestPtr = boost::intrusive_ptr<ClientRequest>;

/// What the leader has made of a write: the same for each server.
struct Transaction : Counted<Transaction> {
  enum class Kind { error, create, remove, set, create_session, close_session };
  /// Errors that say something about the session rather than the node.
  enum class SessionError { none, moved, expired };

  Kind kind = Kind::error;
  std::int64_t zxid = 0;
  std::int64_t time_ms = 0;
  int proposer = -1;                           // the server that led
  detail::Status status = detail::Status::ok;  // of an error
  SessionError session_error = SessionError::none;
  std::string path;
  std::string data;
  detail::CreateMode mode = detail::CreateMode::persistent;
  std::int32_t version = 0;          // of set: the new one
  std::int32_t parent_cversion = 0;  // of create: the new one
  std::int32_t timeout_ms = 0;       // of create_session
  std::vector<std::string> removed;  // of close_session
  ClientRequestPtr request;
};
using TransactionPtr = boost::intrusive_ptr<const Transaction>;

}  // namespace zkrecipes::simulation
