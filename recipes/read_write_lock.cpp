// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/read_write_lock.h"

#include <boost/thread/thread_only.hpp>
#include <utility>

#include "recipes/hold.h"
#include "recipes/lock_error.h"
#include "recipes/node_data.h"
#include "recipes/queue_core.h"
#include "recipes/waiting_call.h"

namespace zkrecipes {

using connection::Status;
using recipes::NodeKind;

struct ReadWriteLock::State {
  std::unique_ptr<recipes::LockCore> readers;
  std::unique_ptr<recipes::LockCore> writers;
  LockOptions options;
};

ReadWriteLock::ReadWriteLock(Connection& connection, std::string path, LockOptions options)
    : state_(std::make_unique<State>()) {
  const auto client = client_of(connection);
  state_->readers = recipes::make_queue_core(client, path, NodeKind::read, options);
  state_->writers = recipes::make_queue_core(client, path, NodeKind::write, options);
  state_->options = std::move(options);
}

ReadWriteLock::~ReadWriteLock() = default;

Hold ReadWriteLock::acquire_read() {
  return state_->readers->acquire();
}

std::optional<Hold> ReadWriteLock::try_acquire_read() {
  return state_->readers->try_acquire();
}

std::optional<Hold> ReadWriteLock::try_acquire_read_until(Clock::time_point deadline) {
  return state_->readers->try_acquire_until(deadline);
}

PendingHold ReadWriteLock::acquire_read_async() {
  return state_->readers->acquire_async();
}

Hold ReadWriteLock::acquire_write() {
  return state_->writers->acquire();
}

std::optional<Hold> ReadWriteLock::try_acquire_write() {
  return state_->writers->try_acquire();
}

std::optional<Hold> ReadWriteLock::try_acquire_write_until(Clock::time_point deadline) {
  return state_->writers->try_acquire_until(deadline);
}

PendingHold ReadWriteLock::acquire_write_async() {
  return state_->writers->acquire_async();
}

Hold ReadWriteLock::downgrade(Hold&& write) {
  const auto& client = state_->writers->client();
  const std::string& path = state_->writers->path();
  client->check_may_block();
  if (!write || write.node_->grant().client != client || write.node_->grant().kind != NodeKind::write ||
      connection::parent_of(write.node()) != path)
    throw Error(ErrorCode::not_held, "lock " + path + ": downgrade() of something that is no write hold of this lock");
  if (!write.is_valid()) throw Error(ErrorCode::session_lost, "lock " + path + ": the write hold was lost");

  // The read node takes the writer's place in line: same number, not sequential. The writer's node goes afterwards, so
  // no writer behind it can get in between.
  const recipes::Grant& writer = write.node_->grant();
  const std::string guid = connection::make_guid();
  connection::CreateSpec create;
  create.parent = path;
  create.name = recipes::protected_name(guid, NodeKind::read);
  create.name += recipes::parse_node_name(write.node())->digits;
  create.guid = guid;
  create.mode = connection::CreateMode::ephemeral;
  create.data = recipes::data_with_token(client->identity(), writer.token);

  // Not interruptible: the server may make the node all the same, and nobody would remove it.
  const boost::this_thread::disable_interruption uninterrupted;
  using Answer = std::pair<Status, connection::CreatedNode>;
  const recipes::WaitingCall<Answer> call;
  client->create(writer.session, create, [call](Status status, connection::CreatedNode node) {
    call.deliver({status, std::move(node)});
  });
  Answer answer = call.wait();
  if (answer.first != Status::ok) std::rethrow_exception(recipes::lock_error(answer.first, path, *client));

  recipes::Grant reader = writer;
  reader.node = std::move(answer.second.path);
  reader.kind = NodeKind::read;
  reader.on_revoke = state_->options.on_revoke;
  Hold read(recipes::HeldNode::make(std::move(reader)));
  write = Hold();
  return read;
}

void ReadWriteLock::lock() {
  state_->writers->lock();
}

bool ReadWriteLock::try_lock() {
  return state_->writers->try_lock();
}

bool ReadWriteLock::lock_until(Clock::time_point deadline) {
  return state_->writers->try_lock_until(deadline);
}

void ReadWriteLock::unlock() noexcept {
  state_->writers->unlock();
}

void ReadWriteLock::lock_shared() {
  state_->readers->lock();
}

bool ReadWriteLock::try_lock_shared() {
  return state_->readers->try_lock();
}

bool ReadWriteLock::lock_shared_until(Clock::time_point deadline) {
  return state_->readers->try_lock_until(deadline);
}

void ReadWriteLock::unlock_shared() noexcept {
  state_->readers->unlock();
}

bool ReadWriteLock::is_held() const noexcept {
  return state_->writers->is_held();
}

FencingToken ReadWriteLock::fencing_token() const {
  return state_->writers->fencing_token();
}

Subscription ReadWriteLock::on_lost(std::function<void()> callback) {
  return state_->writers->on_lost(std::move(callback));
}

}  // namespace zkrecipes
