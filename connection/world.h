// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "connection/lease_clock.h"
#include "connection/server_list.h"
#include "zkrecipes/connection.h"

namespace zkrecipes::detail {

class Handle;
class HandleListener;
struct HandleSettings;

/// Runs what it is given, one task at a time: posted tasks in order, timed ones when they are due. Tasks must not
/// throw; one that does is logged and dropped, since there is nobody to catch it. Thread-safe.
///
/// A lane whose thread cannot be started, because the system has none to give, keeps its tasks until there is one.
/// What waits for them (drain(), finish(), stop()) then runs them itself.
class Lane {
 public:
  virtual ~Lane() = default;

  /// Starts the thread now, so that a later post() needs none. Throws std::system_error where post() would not.
  virtual void start() {}
  virtual void post(std::function<void()> task) = 0;
  virtual void post_at(Clock::time_point time, std::function<void()> task) = 0;
  /// Whether the caller is a task of this lane.
  virtual bool on_this_thread() const noexcept = 0;

  /// Runs all that is there, timed tasks ahead of their time, and what follows from that, until nothing is left. Not
  /// inside a task of the lane.
  virtual void drain() = 0;

  /// Runs all that is there and ends the lane's thread when nothing is left. Waits for that, unless called inside a
  /// task of the lane. Not final: a later post starts a thread again, which ends as soon as it has nothing left to do.
  virtual void finish() = 0;
  /// The same without waiting.
  virtual void finish_soon() = 0;
  /// How many tasks were posted so far. Lanes whose tasks post to each other are all done when this has not
  /// changed for any of them while finish() was called on each.
  virtual std::uint64_t posted() const = 0;

  enum class Rest { run, drop, abandon };
  /// Runs or drops what was posted before, drops timed tasks, and ends the lane. Later posts are dropped.
  /// `abandon` drops, and does not wait for a task that is running; nor does any stop() inside a task of the lane.
  virtual void stop(Rest rest) = 0;
};

/// A flag that is set once and that a thread can wait for. Thread-safe.
class Latch {
 public:
  virtual ~Latch() = default;
  virtual void set() = 0;
  /// False when the time is over first.
  virtual bool wait_for(std::chrono::milliseconds patience) = 0;
};

/// The only source of time, threads, names, chance and connections for everything in connection/ and recipes/. A
/// program has the system's; a simulation has one with a virtual clock, in which a seed decides every choice.
/// Thread-safe; outlives what was made by it.
class World {
 public:
  virtual ~World() = default;

  virtual Clock::time_point now() const noexcept = 0;
  /// The clock of leases, which also counts while the machine is suspended.
  virtual LeaseClock::time_point lease_now() const noexcept = 0;
  /// As far from now on the public clock as `time` is on the clock of leases.
  Clock::time_point to_public(LeaseClock::time_point time) const noexcept { return now() + (time - lease_now()); }

  /// In [0, 1).
  virtual double random() = 0;
  /// A canonical lower-case random UUID. Not drawn twice, also not by parent and child of a fork.
  virtual std::string make_guid() = 0;

  /// `name`: at most 15 characters, shown by debuggers and top.
  virtual std::unique_ptr<Lane> make_lane(const std::string& name) = 0;
  virtual std::shared_ptr<Latch> make_latch() = 0;

  /// Addresses as Handle takes them ("10.0.0.1:2181", "::1:2181"), each once, names resolved now. Hosts that do not
  /// resolve are left out and named in `problem`. May block as long as the resolver does.
  virtual std::vector<std::string> resolve(const std::vector<HostPort>& hosts, std::string& problem) = 0;

  /// Starts connecting. Throws Error when no handle can be made.
  virtual std::unique_ptr<Handle> open_handle(const HandleSettings& settings,
                                              const std::weak_ptr<HandleListener>& listener) = 0;
};

}  // namespace zkrecipes::detail
