// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/read_write_lock.h"

#include <boost/thread/thread_only.hpp>
#include <utility>

#include "recipes/downgrade.h"
#include "recipes/hold.h"
#include "recipes/hold_access.h"
#include "recipes/lock_error.h"
#include "recipes/make_core.h"
#include "recipes/waiting_call.h"

namespace zkrecipes {

using detail::NodeKind;
using detail::Status;

// Hidden: the state of a public class is not part of the public API.
struct __attribute__((visibility("hidden"))) ReadWriteLock::State {
  std::unique_ptr<detail::LockCore> readers;
  std::unique_ptr<detail::LockCore> writers;
  LockOptions options;

  // A try that does not wait is answered by the queue: busy.
  void refuse_write_in_read() const { readers->refuse_if_mine("this thread has locked it for reading"); }
  void refuse_read_in_write() const { writers->refuse_if_mine("this thread has locked it for writing"); }
  bool is_over(Clock::time_point deadline) const { return deadline <= writers->client()->world().now(); }
};

ReadWriteLock::ReadWriteLock(Connection& connection, const std::string& path, const LockOptions& options)
    : state_(std::make_unique<State>()) {
  const auto client = client_of(connection);
  state_->readers = detail::make_queue_core(client, path, NodeKind::read, options);
  state_->writers = detail::make_queue_core(client, path, NodeKind::write, options);
  state_->options = options;
}

ReadWriteLock::~ReadWriteLock() = default;

Hold ReadWriteLock::acquire_read() {
  return state_->readers->acquire();
}

AcquireResult ReadWriteLock::acquire_read(const StopToken& stop) {
  return state_->readers->acquire(stop);
}

AcquireResult ReadWriteLock::try_acquire_read() {
  return state_->readers->try_acquire();
}

AcquireResult ReadWriteLock::acquire_read_until(Clock::time_point deadline, const StopToken& stop) {
  return state_->readers->try_acquire_until(deadline, stop);
}

PendingHold ReadWriteLock::acquire_read_async(const AcquireOptions& options) {
  return state_->readers->acquire_async(options);
}

Hold ReadWriteLock::acquire_write() {
  return state_->writers->acquire();
}

AcquireResult ReadWriteLock::acquire_write(const StopToken& stop) {
  return state_->writers->acquire(stop);
}

AcquireResult ReadWriteLock::try_acquire_write() {
  return state_->writers->try_acquire();
}

AcquireResult ReadWriteLock::acquire_write_until(Clock::time_point deadline, const StopToken& stop) {
  return state_->writers->try_acquire_until(deadline, stop);
}

PendingHold ReadWriteLock::acquire_write_async(const AcquireOptions& options) {
  return state_->writers->acquire_async(options);
}

Hold ReadWriteLock::downgrade(Hold&& write) {
  const auto& client = state_->writers->client();
  const std::string& path = state_->writers->path();
  client->check_may_block();
  const auto held = detail::HoldAccess::node(write);
  if (!write || held->grant().client != client || held->grant().kind != NodeKind::write ||
      detail::parent_of(write.node()) != path)
    throw Error(ErrorCode::not_held, "lock " + path + ": downgrade() of something that is no write hold of this lock");
  if (!write.is_valid()) throw Error(ErrorCode::session_lost, "lock " + path + ": the write hold was lost");

  // Not interruptible: the server may make the node all the same, and nobody would remove it.
  const boost::this_thread::disable_interruption uninterrupted;
  using Answer = std::pair<Status, std::shared_ptr<detail::HeldNode>>;
  const detail::WaitingCall<Answer> call;
  detail::downgrade(held, state_->options, [call](Status status, std::shared_ptr<detail::HeldNode> node) {
    call.deliver({status, std::move(node)});
  });
  Answer answer = call.wait();
  if (answer.first == Status::no_node) {
    held->lose();
    throw Error(ErrorCode::session_lost, "lock " + path + ": somebody has deleted the node of the write hold");
  }
  if (answer.first != Status::ok) std::rethrow_exception(detail::lock_error(answer.first, path, *client));
  // A hold that was lost meanwhile does not come back with the read node.
  if (!held->hand_subscribers_to(*answer.second))
    throw Error(ErrorCode::session_lost, "lock " + path + ": the hold was lost during the downgrade");
  Hold read = detail::HoldAccess::hold(std::move(answer.second));
  write = Hold();
  return read;
}

void ReadWriteLock::lock() {
  static_cast<void>(lock(StopToken()));
}

bool ReadWriteLock::lock(const StopToken& stop) {
  state_->refuse_write_in_read();
  state_->writers->refuse_if_mine("this thread has locked it for writing already");
  return state_->writers->lock(stop);
}

bool ReadWriteLock::try_lock() {
  return state_->writers->try_lock();
}

bool ReadWriteLock::lock_until(Clock::time_point deadline) {
  if (!state_->is_over(deadline)) state_->refuse_write_in_read();
  return state_->writers->try_lock_until(deadline);
}

void ReadWriteLock::unlock() noexcept {
  state_->writers->unlock();
}

void ReadWriteLock::lock_shared() {
  static_cast<void>(lock_shared(StopToken()));
}

bool ReadWriteLock::lock_shared(const StopToken& stop) {
  state_->refuse_read_in_write();
  return state_->readers->lock(stop);
}

bool ReadWriteLock::try_lock_shared() {
  return state_->readers->try_lock();
}

bool ReadWriteLock::lock_shared_until(Clock::time_point deadline) {
  if (!state_->is_over(deadline)) state_->refuse_read_in_write();
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

std::string ReadWriteLock::node() const {
  return state_->writers->node();
}

Subscription ReadWriteLock::on_lost(std::function<void()> callback) {
  return state_->writers->on_lost(std::move(callback));
}

bool ReadWriteLock::is_held_shared() const noexcept {
  return state_->readers->is_held();
}

FencingToken ReadWriteLock::fencing_token_shared() const {
  return state_->readers->fencing_token();
}

std::string ReadWriteLock::node_shared() const {
  return state_->readers->node();
}

Subscription ReadWriteLock::on_lost_shared(std::function<void()> callback) {
  return state_->readers->on_lost(std::move(callback));
}

}  // namespace zkrecipes
