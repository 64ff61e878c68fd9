// SPDX-License-Identifier: Apache-2.0
// The part that serves whoever waits.
#include <boost/thread/exceptions.hpp>
#include <stdexcept>
#include <utility>

#include "recipes/acquisition.h"
#include "recipes/hold_access.h"

namespace zkrecipes::detail {

bool Acquisition::ready() const {
  if (client_->in_forked_child()) return false;  // the mutex may have been held at the moment of the fork
  const InterruptibleLock lock(mutex_);
  return state_ != State::waiting;
}

// ---- The callback ----

void Acquisition::on_ready(std::function<void(AcquireResult)> callback) {
  if (client_->in_forked_child()) client_->check_usable();  // throws
  if (callback) client_->callbacks().start();
  std::function<void(AcquireResult)> replaced;  // destroyed without the mutex
  const InterruptibleLock lock(mutex_);
  if (dropped_) return;  // called by a callback whose end drop() is waiting for
  if (callback && (state_ == State::taken || getters_ > 0))
    throw std::logic_error("zkrecipes: on_ready() of a PendingHold whose result is for get(), or was already taken");
  replaced = std::exchange(on_ready_, std::move(callback));
  if (state_ == State::ready) post_callback();
}

/// The task takes the callback only when it runs, so until then the callback can be replaced or dropped. It does not
/// own this object: the PendingHold does, and without one there is no callback.
void Acquisition::post_callback() {
  if (!on_ready_ || callbacks_posted_ > 0) return;
  ++callbacks_posted_;
  client_->callbacks().post([run = callback_run_, weak = weak_from_this()] {
    if (!run->enter()) return;
    if (auto self = weak.lock()) {
      self->run_callback();
      self = nullptr;
    }
    run->leave();
  });
}

void Acquisition::run_callback() {
  std::function<void(AcquireResult)> callback;
  AcquireResult result;
  {
    const InterruptibleLock lock(mutex_);
    --callbacks_posted_;
    callback = std::exchange(on_ready_, nullptr);
    if (!callback || state_ != State::ready) return;
    result = take();
  }
  call_guarded(*client_->log(), "a callback of on_ready", [&] { callback(std::move(result)); });
}

void Acquisition::drop() noexcept {
  if (client_->in_forked_child()) return;
  std::function<void(AcquireResult)> dropped;  // destroyed without the mutex
  {
    const InterruptibleLock lock(mutex_);
    dropped_ = true;
    dropped = std::exchange(on_ready_, nullptr);
  }
  dropped = nullptr;
  cancel();
  callback_run_->close_and_wait();
}

// ---- Waiting ----

/// False when the time is over first.
bool Acquisition::wait(InterruptibleLock& lock, Clock::time_point deadline) {
  while (state_ == State::waiting)
    if (!wait_by(changed_, lock, deadline)) return state_ != State::waiting;
  return true;
}

AcquireResult Acquisition::take_by(Clock::time_point deadline) {
  try {
    InterruptibleLock lock(mutex_);
    if (!wait(lock, deadline)) {
      leave();
      finish(why_not_in_time(), nullptr, nullptr);
    }
    AcquireResult result = take();
    lock.unlock();
    tell_observer();
    return result;
  } catch (const boost::thread_interrupted&) {
    cancel();
    throw;
  }
}

bool Acquisition::wait_until(Clock::time_point deadline) {
  if (ready()) return true;
  client_->check_may_block();
  InterruptibleLock lock(mutex_);
  return wait(lock, deadline);
}

Hold Acquisition::get() {
  if (!ready()) client_->check_may_block();
  // Announced, so that no callback is registered for what this thread is going to take.
  struct Getter {
    ~Getter() {
      const InterruptibleLock lock(acquisition.mutex_);
      --acquisition.getters_;
    }
    Acquisition& acquisition;
  };
  {
    const InterruptibleLock lock(mutex_);
    if (on_ready_)
      throw std::logic_error("zkrecipes: get() of a PendingHold whose result is for the callback of on_ready()");
    ++getters_;
  }
  const Getter getter{*this};
  return take_by(Clock::time_point::max()).value();
}

AcquireResult Acquisition::take() {
  if (state_ != State::ready) throw std::logic_error("zkrecipes: the result of this PendingHold was already taken");
  state_ = State::taken;
  if (status_ == AcquireStatus::granted) return HoldAccess::result(HoldAccess::hold(std::move(held_)));
  return HoldAccess::result(status_, std::exchange(error_, nullptr), path_);
}

// ---- Giving up ----

void Acquisition::end_at(Clock::time_point deadline) {
  const InterruptibleLock lock(mutex_);
  if (state_ != State::waiting) return;
  deadline_timer_ = client_->run_at(deadline, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->give_up(self->why_not_in_time());
  });
}

void Acquisition::give_up(AcquireStatus why) noexcept {
  if (client_->in_forked_child()) return;
  {
    const InterruptibleLock lock(mutex_);
    if (state_ != State::waiting) return;
    leave();
    finish(why, nullptr, nullptr);
  }
  announce(true);
}

void Acquisition::cancel() noexcept {
  if (client_->in_forked_child()) return;
  std::shared_ptr<HeldNode> unwanted;  // released without the mutex
  {
    const InterruptibleLock lock(mutex_);
    if (state_ == State::waiting) {
      leave();
      finish(AcquireStatus::stopped, nullptr, nullptr);
    } else if (state_ == State::ready && held_) {
      unwanted = std::exchange(held_, nullptr);
      status_ = AcquireStatus::stopped;
    }
  }
  announce(true);
  if (unwanted) unwanted->release_in_background();
}

}  // namespace zkrecipes::detail
