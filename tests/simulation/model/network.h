// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "tests/simulation/model/ensemble.h"

namespace zkrecipes::simulation {

/// One direction between two machines.
struct Link {
  Ensemble::LinkFault fault = Ensemble::LinkFault::none;
  Time extra{};

  bool is_cut() const { return fault == Ensemble::LinkFault::cut; }
  bool is_silent() const { return fault == Ensemble::LinkFault::silent; }
  bool works() const { return !is_cut() && !is_silent(); }
};

class Network;

class AnyPipe {
 public:
  explicit AnyPipe(Network& network);
  AnyPipe(const AnyPipe&) = delete;
  AnyPipe& operator=(const AnyPipe&) = delete;
  virtual ~AnyPipe();

  /// Delivers what has arrived, as far as the link and the receiver allow.
  virtual void pump() = 0;
  virtual std::size_t size() const = 0;

 protected:
  Network& network_;
  const std::uint32_t slot_;
};

/// Schedules the arrivals of all pipes.
class Network {
 public:
  explicit Network(Scheduler& scheduler) : scheduler_(scheduler) {}

  Scheduler& scheduler() { return scheduler_; }
  /// Delivers, in no particular order, what is held back by links and receivers that work again.
  void pump_all();
  std::size_t messages() const;
  std::uint64_t sent() const { return sent_; }

 private:
  friend class AnyPipe;
  template <class Packet>
  friend class Pipe;
  struct Slot {
    AnyPipe* pipe = nullptr;
    std::uint32_t generation = 0;
  };
  std::uint32_t add(AnyPipe* pipe);
  void remove(std::uint32_t slot);
  void pump_at(Time time, std::uint32_t slot);
  void pump(std::uint32_t slot, std::uint32_t generation);

  Scheduler& scheduler_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  std::uint64_t sent_ = 0;
};

template <class Packet>
class PacketReceiver {
 public:
  virtual ~PacketReceiver() = default;
  /// False while packets are to wait, for example in the socket buffer of a process that is stopped.
  virtual bool ready() = 0;
  virtual void receive(Packet packet) = 0;
};

/// One direction of a connection: packets arrive in order, each after a delay of its own. Must not be destroyed by its
/// receiver inside receive().
template <class Packet>
class Pipe final : public AnyPipe {
 public:
  Pipe(Network& network, const Link& link, PacketReceiver<Packet>& receiver, Time least_delay, Time most_delay)
      : AnyPipe(network), link_(link), receiver_(receiver), least_(least_delay), most_(most_delay) {}

  /// `after`: what the sender takes before it sends.
  void send(Packet packet, Time after = {}) {
    Scheduler& scheduler = network_.scheduler();
    const Time sent = scheduler.now() + after;
    last_arrival_ = std::max(last_arrival_, sent + scheduler.random().between(least_, most_) + link_.extra);
    queue_.push_back({sent, last_arrival_, std::move(packet)});
    ++network_.sent_;
    network_.pump_at(last_arrival_, slot_);
  }
  void clear() { queue_.clear(); }
  /// Forgets what was to be sent later.
  void recall() {
    const auto is_later = [now = network_.scheduler().now()](const Entry& entry) { return entry.sent > now; };
    queue_.erase(std::remove_if(queue_.begin(), queue_.end(), is_later), queue_.end());
  }
  std::size_t size() const override { return queue_.size(); }

  void pump() override {
    const Time now = network_.scheduler().now();
    while (!queue_.empty() && queue_.front().arrival <= now && !link_.is_silent() && receiver_.ready()) {
      Packet packet = std::move(queue_.front().packet);
      queue_.pop_front();
      receiver_.receive(std::move(packet));
    }
  }

 private:
  struct Entry {
    Time sent;
    Time arrival;
    Packet packet;
  };
  const Link& link_;
  PacketReceiver<Packet>& receiver_;
  const Time least_;
  const Time most_;
  Time last_arrival_{};
  std::deque<Entry> queue_;
};

}  // namespace zkrecipes::simulation
