// SPDX-License-Identifier: Apache-2.0
#include "recipes/acquisition.h"

#include <boost/thread/exceptions.hpp>
#include <stdexcept>
#include <utility>

#include "zkrecipes/pending_hold.h"

namespace zkrecipes::recipes {

namespace {
// How often a try looks whether the connection is still there.
constexpr std::chrono::milliseconds kConnectionCheck{20};
}  // namespace

Acquisition::Acquisition(std::shared_ptr<connection::Client> client, std::shared_ptr<Ticket> ticket, std::string path)
    : client_(std::move(client)), ticket_(std::move(ticket)), path_(std::move(path)) {}

Acquisition::~Acquisition() {
  if (!client_->in_forked_child()) ticket_->leave();
}

void Acquisition::start() {
  ticket_->join([self = shared_from_this()](Outcome outcome) { self->finish(std::move(outcome)); });
}

void Acquisition::finish(Outcome outcome) {
  Lock lock(mutex_);
  if (state_ != State::waiting) {
    // Cancelled at the last moment.
    lock.unlock();
    if (outcome.held) outcome.held->release_in_background();
    return;
  }
  state_ = State::ready;
  outcome_ = std::move(outcome);
  post_callback();
  lock.unlock();  // before notifying, so that the woken thread does not block on mutex_
  changed_.notify_all();
}

bool Acquisition::ready() const {
  if (client_->in_forked_child()) return false;  // the mutex may have been held at the moment of the fork
  boost::lock_guard<boost::mutex> lock(mutex_);
  return state_ == State::ready;
}

// ---- The callback ----

void Acquisition::on_ready(std::function<void()> callback) {
  std::function<void()> replaced;  // destroyed without the mutex
  Lock lock(mutex_);
  if (dropped_) return;  // called by a callback whose end drop() is waiting for
  replaced = std::exchange(on_ready_, std::move(callback));
  if (state_ != State::waiting) post_callback();
}

/// The mutex is held. The task takes the callback only when it runs, so until then the callback can be replaced or
/// dropped.
void Acquisition::post_callback() {
  if (!on_ready_ || callbacks_posted_ > 0) return;
  ++callbacks_posted_;
  client_->callbacks().post([self = shared_from_this()] { self->run_callback(); });
}

void Acquisition::run_callback() {
  std::function<void()> callback;
  {
    Lock lock(mutex_);
    --callbacks_posted_;
    callback = std::exchange(on_ready_, nullptr);
    if (!callback) return;
    callback_runs_on_ = boost::this_thread::get_id();
  }
  connection::call_guarded("a callback of on_ready", callback);
  callback = nullptr;  // before anybody is told that it has ended: it may own what drop() is about to outlive
  Lock lock(mutex_);
  callback_runs_on_ = {};
  lock.unlock();
  changed_.notify_all();
}

void Acquisition::drop() noexcept {
  if (client_->in_forked_child()) return;
  std::function<void()> dropped;  // destroyed without the mutex
  {
    Lock lock(mutex_);
    dropped_ = true;
    dropped = std::exchange(on_ready_, nullptr);
  }
  dropped = nullptr;
  cancel();
  const boost::this_thread::disable_interruption uninterrupted;
  Lock lock(mutex_);
  if (callback_runs_on_ == boost::this_thread::get_id()) return;
  changed_.wait(lock, [this] { return callback_runs_on_ == boost::thread::id(); });
}

// ---- Waiting ----

/// Whether the outcome was decided in time; an interruption cancels.
bool Acquisition::wait_until(Lock& lock, Clock::time_point deadline) {
  const auto decided = [this] { return state_ != State::waiting; };
  try {
    if (deadline == Clock::time_point::max()) {
      changed_.wait(lock, decided);
      return true;
    }
    // Both clocks are the system's monotonic one.
    const boost::chrono::nanoseconds since_epoch(
        std::chrono::duration_cast<std::chrono::nanoseconds>(deadline.time_since_epoch()).count());
    return changed_.wait_until(lock, boost::chrono::steady_clock::time_point(since_epoch), decided);
  } catch (const boost::thread_interrupted&) {
    if (lock.owns_lock()) lock.unlock();
    cancel();
    throw;
  }
}

std::optional<Hold> Acquisition::wait_until(Clock::time_point deadline) {
  Lock lock(mutex_);
  if (!wait_until(lock, deadline)) return leave(lock);
  return take();
}

std::optional<Hold> Acquisition::wait_while_connected() {
  Lock lock(mutex_);
  // The outcome usually takes a round trip or two; only a call that takes longer looks at the connection.
  while (!wait_until(lock, Clock::now() + kConnectionCheck))
    if (!client_->is_connected()) return leave(lock);
  return take();
}

/// Nothing, unless the outcome was decided meanwhile.
std::optional<Hold> Acquisition::leave(Lock& lock) {
  lock.unlock();
  if (ticket_->leave()) return std::nullopt;
  // The outcome was decided concurrently; wait for it, it is already being delivered.
  const boost::this_thread::disable_interruption uninterrupted;
  lock.lock();
  changed_.wait(lock, [this] { return state_ != State::waiting; });
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
    if (was_waiting) post_callback();
  }
  if (unwanted) unwanted->release_in_background();
}

}  // namespace zkrecipes::recipes

namespace zkrecipes {

PendingHold::PendingHold() noexcept = default;

PendingHold::PendingHold(std::shared_ptr<recipes::Acquisition> acquisition) noexcept
    : acquisition_(std::move(acquisition)) {}

PendingHold::~PendingHold() {
  if (acquisition_) acquisition_->drop();
}

PendingHold::PendingHold(PendingHold&&) noexcept = default;

PendingHold& PendingHold::operator=(PendingHold&& other) noexcept {
  if (this == &other) return *this;
  if (acquisition_) acquisition_->drop();
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
