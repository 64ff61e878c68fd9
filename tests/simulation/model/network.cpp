// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/model/network.h"

namespace zkrecipes::simulation {

AnyPipe::AnyPipe(Network& network) : network_(network), slot_(network.add(this)) {}

AnyPipe::~AnyPipe() {
  network_.remove(slot_);
}

std::uint32_t Network::add(AnyPipe* pipe) {
  if (free_.empty()) {
    slots_.push_back({pipe, 0});
    return static_cast<std::uint32_t>(slots_.size() - 1);
  }
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  slots_[slot].pipe = pipe;
  return slot;
}

void Network::remove(std::uint32_t slot) {
  slots_[slot].pipe = nullptr;
  ++slots_[slot].generation;
  free_.push_back(slot);
}

void Network::pump_at(Time time, std::uint32_t slot) {
  // Small enough to be kept inside std::function, without memory of its own.
  struct Task {
    Network* network;
    std::uint32_t slot;
    std::uint32_t generation;
    void operator()() const { network->pump(slot, generation); }
  };
  scheduler_.at(time, Task{this, slot, slots_[slot].generation});
}

void Network::pump(std::uint32_t slot, std::uint32_t generation) {
  if (slots_[slot].generation == generation && slots_[slot].pipe != nullptr) slots_[slot].pipe->pump();
}

void Network::pump_all() {
  for (std::uint32_t slot = 0; slot < slots_.size(); ++slot) {
    if (slots_[slot].pipe == nullptr || slots_[slot].pipe->size() == 0) continue;
    pump_at(scheduler_.now() + scheduler_.random().between(Time::zero(), std::chrono::milliseconds(1)), slot);
  }
}

std::size_t Network::messages() const {
  std::size_t result = 0;
  for (const Slot& slot : slots_)
    if (slot.pipe != nullptr) result += slot.pipe->size();
  return result;
}

}  // namespace zkrecipes::simulation
