// SPDX-License-Identifier: Apache-2.0
#include "recipes/acquisition.h"

#include <boost/thread/exceptions.hpp>
#include <boost/thread/thread_only.hpp>
#include <stdexcept>
#include <utility>

#include "zkrecipes/pending_hold.h"

namespace zkrecipes::recipes {

Acquisition::Acquisition(std::shared_ptr<connection::Client> client, std::shared_ptr<Ticket> ticket, std::string path)
    : client_(std::move(client)), ticket_(std::move(ticket)), path_(std::move(path)) {}

Acquisition::~Acquisition() {
  if (!client_->in_forked_child()) ticket_->leave();
}

void Acquisition::start() {
  ticket_->join([self = shared_from_this()](Outcome outcome) { self->finish(std::move(outcome)); });
}

void Acquisition::finish(Outcome outcome) {
  boost::unique_lock<boost::mutex> lock(mutex_);
  if (state_ != State::waiting) {
    // Cancelled at the last moment.
    lock.unlock();
    if (outcome.held) outcome.held->release_in_background();
    return;
  }
  state_ = State::ready;
  outcome_ = std::move(outcome);
  if (on_ready_) client_->callbacks().post(std::exchange(on_ready_, nullptr));
  lock.unlock();  // so that who waits need not wait for it again
  changed_.notify_all();
}

bool Acquisition::ready() const {
  if (client_->in_forked_child()) return false;  // the mutex may have been held at the moment of the fork
  boost::lock_guard<boost::mutex> lock(mutex_);
  return state_ == State::ready;
}

void Acquisition::on_ready(std::function<void()> callback) {
  boost::lock_guard<boost::mutex> lock(mutex_);
  if (state_ == State::waiting)
    on_ready_ = std::move(callback);
  else if (callback)
    client_->callbacks().post(std::move(callback));
}

std::optional<Hold> Acquisition::wait_until(Clock::time_point deadline) {
  boost::unique_lock<boost::mutex> lock(mutex_);
  const auto decided = [this] { return state_ != State::waiting; };
  try {
    if (deadline == Clock::time_point::max()) {
      changed_.wait(lock, decided);
    } else {
      // Both clocks are the system's monotonic one.
      const boost::chrono::nanoseconds since_epoch(
          std::chrono::duration_cast<std::chrono::nanoseconds>(deadline.time_since_epoch()).count());
      changed_.wait_until(lock, boost::chrono::steady_clock::time_point(since_epoch), decided);
    }
  } catch (const boost::thread_interrupted&) {
    if (lock.owns_lock()) lock.unlock();
    cancel();
    throw;
  }
  if (!decided()) {
    lock.unlock();
    if (ticket_->leave()) return std::nullopt;
    // Decided this very moment; what it is comes at once.
    boost::this_thread::disable_interruption uninterrupted;
    lock.lock();
    changed_.wait(lock, decided);
  }
  return take();
}

Hold Acquisition::get() {
  if (!ready()) {
    client_->check_may_block();
    return *wait_until(Clock::time_point::max());
  }
  boost::lock_guard<boost::mutex> lock(mutex_);
  return take();
}

/// The mutex is held.
Hold Acquisition::take() {
  if (state_ != State::ready) throw std::logic_error("zkrecipes: the hold of this PendingHold was already taken");
  state_ = State::taken;
  const Outcome outcome = std::exchange(outcome_, {});
  if (outcome.error) std::rethrow_exception(outcome.error);
  return Hold(outcome.held);
}

void Acquisition::cancel() noexcept {
  if (client_->in_forked_child()) return;
  ticket_->leave();
  std::shared_ptr<HeldNode> unwanted;
  {
    boost::lock_guard<boost::mutex> lock(mutex_);
    if (state_ == State::taken || (state_ == State::ready && !outcome_.held)) return;
    const bool was_waiting = state_ == State::waiting;
    state_ = State::ready;
    unwanted = std::exchange(outcome_.held, nullptr);
    outcome_.error = std::make_exception_ptr(Cancelled("lock " + path_ + ": the pending acquire was cancelled"));
    changed_.notify_all();
    if (was_waiting && on_ready_) client_->callbacks().post(std::exchange(on_ready_, nullptr));
  }
  if (unwanted) unwanted->release_in_background();
}

}  // namespace zkrecipes::recipes

namespace zkrecipes {

PendingHold::PendingHold() noexcept = default;

PendingHold::PendingHold(std::shared_ptr<recipes::Acquisition> acquisition) noexcept
    : acquisition_(std::move(acquisition)) {}

PendingHold::~PendingHold() {
  if (acquisition_) acquisition_->cancel();
}

PendingHold::PendingHold(PendingHold&&) noexcept = default;

PendingHold& PendingHold::operator=(PendingHold&& other) noexcept {
  if (this == &other) return *this;
  if (acquisition_) acquisition_->cancel();
  acquisition_ = std::move(other.acquisition_);
  return *this;
}

bool PendingHold::ready() const noexcept {
  return acquisition_ && acquisition_->ready();
}

void PendingHold::on_ready(std::function<void()> callback) {
  if (!acquisition_) throw std::logic_error("zkrecipes: on_ready() of an empty PendingHold");
  acquisition_->on_ready(std::move(callback));
}

Hold PendingHold::get() {
  if (!acquisition_) throw std::logic_error("zkrecipes: get() of an empty PendingHold");
  return acquisition_->get();
}

void PendingHold::cancel() noexcept {
  if (acquisition_) acquisition_->cancel();
}

}  // namespace zkrecipes
