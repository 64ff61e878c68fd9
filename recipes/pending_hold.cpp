// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/pending_hold.h"

#include <stdexcept>
#include <utility>

#include "recipes/acquisition.h"

namespace zkrecipes {

// Members keep the acquisition alive for as long as they run: the callback, or the observer, may destroy this object
// in the middle of a call.

PendingHold::PendingHold() noexcept = default;

PendingHold::PendingHold(std::shared_ptr<detail::Acquisition> acquisition) noexcept
    : acquisition_(std::move(acquisition)) {}

PendingHold::~PendingHold() {
  // The callback may own the object that owns this one, whose end then comes in the middle of drop().
  if (const auto dropped = std::move(acquisition_)) dropped->drop();
}

PendingHold::PendingHold(PendingHold&&) noexcept = default;

PendingHold& PendingHold::operator=(PendingHold&& other) noexcept {
  if (this == &other) return *this;
  const PendingHold former(std::move(*this));  // ends last: its callback may own the object that owns this one
  acquisition_ = std::move(other.acquisition_);
  return *this;
}

bool PendingHold::ready() const noexcept {
  return acquisition_ && acquisition_->ready();
}

bool PendingHold::wait_by(Clock::time_point deadline) {
  if (!acquisition_) throw std::logic_error("zkrecipes: wait on an empty PendingHold");
  const auto acquisition = acquisition_;
  return acquisition->wait_until(deadline);
}

void PendingHold::on_ready(std::function<void(AcquireResult)> callback) & {
  if (!acquisition_) throw std::logic_error("zkrecipes: on_ready() of an empty PendingHold");
  const auto acquisition = acquisition_;
  acquisition->on_ready(std::move(callback));
}

Hold PendingHold::get() {
  if (!acquisition_) throw std::logic_error("zkrecipes: get() of an empty PendingHold");
  const auto acquisition = acquisition_;
  return acquisition->get();
}

void PendingHold::cancel() noexcept {
  if (const auto acquisition = acquisition_) acquisition->cancel();
}

}  // namespace zkrecipes
