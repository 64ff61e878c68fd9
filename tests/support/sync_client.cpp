// SPDX-License-Identifier: Apache-2.0
#include "tests/support/sync_client.h"

#include <atomic>
#include <stdexcept>
#include <unistd.h>
#include <utility>

namespace zkrecipes::testing {

using detail::CreatedNode;
using detail::CreateSpec;
using detail::Reply;
using detail::RequestKind;
using detail::SessionPtr;
using detail::Status;

namespace {

std::string unique_guid() {
  static std::atomic<long> last{0};
  return "guid" + std::to_string(getpid()) + "x" + std::to_string(++last) + "x";
}

}  // namespace

CreateSpec queue_node(const std::string& parent) {
  CreateSpec spec;
  spec.parent = parent;
  spec.guid = unique_guid();
  spec.name = "_c_" + spec.guid + "-lock-";
  return spec;
}

CreateSpec fixed_node(const std::string& parent, const std::string& name) {
  CreateSpec spec;
  spec.parent = parent;
  spec.name = name;
  spec.guid = unique_guid();
  spec.guid_place = detail::GuidPlace::in_data;
  spec.data = "held by " + spec.guid;
  spec.mode = detail::CreateMode::ephemeral;
  return spec;
}

SessionPtr SyncClient::session() const {
  Answer<Status, SessionPtr> answer;
  client_->await_session(answer.handler());
  const auto [status, session] = answer.get();
  if (status != Status::ok) throw std::runtime_error(std::string("no session: ") + to_string(status));
  return session;
}

CreateAnswer SyncClient::begin_create(CreateSpec spec, SessionPtr session) const {
  CreateAnswer answer;
  client_->create(or_current(std::move(session)), std::move(spec), answer.handler());
  return answer;
}

RemoveAnswer SyncClient::begin_remove(const std::string& path, std::int64_t czxid, SessionPtr session) const {
  RemoveAnswer answer;
  client_->remove(or_current(std::move(session)), path, czxid, answer.handler());
  return answer;
}

ReplyAnswer SyncClient::begin(RequestKind kind, const std::string& path, SessionPtr session) const {
  ReplyAnswer answer;
  const SessionPtr in = or_current(std::move(session));
  switch (kind) {
    case RequestKind::exists:
      client_->exists(in, path, answer.handler());
      break;
    case RequestKind::get:
      client_->get(in, path, answer.handler());
      break;
    case RequestKind::list:
      client_->list(in, path, answer.handler());
      break;
    case RequestKind::sync:
      client_->sync(in, path, answer.handler());
      break;
    default:
      throw std::logic_error("not a request that begin() can make");
  }
  return answer;
}

ReplyAnswer SyncClient::begin_set(const std::string& path, const std::string& data, std::int32_t version,
                                  SessionPtr session) const {
  ReplyAnswer answer;
  client_->set(or_current(std::move(session)), path, data, version, answer.handler());
  return answer;
}

CreatedNode SyncClient::create(CreateSpec spec) const {
  auto [status, node] = begin_create(std::move(spec)).get();
  if (status != Status::ok) throw std::runtime_error(std::string("create: ") + to_string(status));
  return node;
}

SyncClient::Watch SyncClient::begin_watch(const std::string& path, SessionPtr session) const {
  Watch watch;
  watch.id = client_->watch_node(or_current(std::move(session)), path, watch.event.handler(), watch.reply.handler());
  return watch;
}

SyncClient::Watch SyncClient::begin_watch_children(const std::string& path, SessionPtr session) const {
  Watch watch;
  watch.id =
      client_->watch_children(or_current(std::move(session)), path, watch.event.handler(), watch.reply.handler());
  return watch;
}

}  // namespace zkrecipes::testing
