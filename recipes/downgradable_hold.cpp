// SPDX-License-Identifier: Apache-2.0
#include "recipes/downgradable_hold.h"

#include <stdexcept>
#include <utility>

#include "recipes/downgrade.h"
#include "recipes/hold_access.h"

namespace zkrecipes::detail {

DowngradableHold::DowngradableHold(Hold hold, LockOptions options)
    : options_(std::move(options)), hold_(std::move(hold)) {}

void DowngradableHold::downgrade() {
  is_write_->store(false);
  std::shared_ptr<HeldNode> write;
  {
    MutexLock lock(mutex_);
    if (!hold_.is_valid()) return;
    write = HoldAccess::node(hold_);
  }
  // A read node that is made after this object was destroyed is released by its own destructor.
  detail::downgrade(write, options_, [weak = weak_from_this()](Status status, std::shared_ptr<HeldNode> read) {
    if (const auto self = weak.lock()) self->downgraded(status, std::move(read));
  });
}

void DowngradableHold::downgraded(Status status, std::shared_ptr<HeldNode> read) {
  Hold former;  // released without the mutex, and after the read hold is in its place
  MutexLock lock(mutex_);
  const std::shared_ptr<HeldNode> write = HoldAccess::node(hold_);
  switch (status) {
    case Status::ok:
      // A hold that was lost meanwhile does not come back with the read node.
      if (write->hand_subscribers_to(*read)) former = std::exchange(hold_, HoldAccess::hold(std::move(read)));
      return;
    case Status::no_node:
      lock.unlock();
      return write->lose();
    case Status::session_over:
    case Status::closed:
      return;  // the write hold is notified by the session
    default:
      lock.unlock();
      write->grant().client->log()->warning("lock node " + write->grant().node +
                                            " cannot be replaced by a read node and keeps readers out until it is "
                                            "released (" +
                                            to_string(status) + ")");
  }
}

void DowngradableHold::release() noexcept {
  std::shared_ptr<HeldNode> held;
  {
    MutexLock lock(mutex_);  // no read node takes the place of this one meanwhile
    held = HoldAccess::node(hold_);
    held->release_unobserved();
  }
  held->tell_observer();
}

bool DowngradableHold::is_valid() const noexcept {
  MutexLock lock(mutex_);
  return hold_.is_valid();
}

Clock::time_point DowngradableHold::valid_until() const noexcept {
  MutexLock lock(mutex_);
  return hold_.valid_until();
}

FencingToken DowngradableHold::token() const noexcept {
  MutexLock lock(mutex_);
  return hold_.token();
}

std::string DowngradableHold::node() const {
  MutexLock lock(mutex_);
  return hold_.node();
}

Subscription DowngradableHold::on_lost(std::function<void()> callback) {
  MutexLock lock(mutex_);
  return hold_.on_lost(std::move(callback));
}

Subscription DowngradableHold::on_write_lost(std::function<void()> callback) {
  if (!callback) throw std::invalid_argument("zkrecipes: on_lost: the callback is empty");
  // The write node outlives the write hold for a moment, and its subscribers go over to the read hold.
  return on_lost([is_write = is_write_, callback = std::move(callback)] {
    if (is_write->load()) callback();
  });
}

}  // namespace zkrecipes::detail
