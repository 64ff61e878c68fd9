// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "connection/world.h"
#include "tests/simulation/model/ensemble.h"
#include "tests/simulation/process.h"
#include "tests/simulation/scheduler.h"

namespace zkrecipes::simulation {

/// Which addresses a name has. Shared by all processes of a run.
class NameService {
 public:
  explicit NameService(const Ensemble& ensemble) : ensemble_(ensemble) {}

  /// "zk0" is the name of server 0, and so on.
  static std::string name_of(int server) { return "zk" + std::to_string(server); }

  /// While it is down no name resolves.
  void set_down(bool down) { down_ = down; }
  /// Empty when the name does not resolve.
  std::string address_of(const std::string& name) const;

 private:
  const Ensemble& ensemble_;
  bool down_ = false;
};

/// What one simulated process has in place of the system: its drifting clock, lanes that are tasks of the process,
/// random numbers that depend on the seed, and endpoints of the simulated ensemble.
///
/// When the process is dead nothing is posted to it any more; lanes still run what they have when they are drained,
/// finished or stopped, so that a dead process' objects can be destroyed.
class SimulatedWorld final : public detail::World {
 public:
  SimulatedWorld(Process& process, Ensemble& ensemble, const NameService& names);
  ~SimulatedWorld() override;

  Process& process() { return process_; }

  Clock::time_point now() const noexcept override;
  detail::LeaseClock::time_point lease_now() const noexcept override;
  double random() override { return random_.fraction(); }
  std::string make_guid() override;
  std::unique_ptr<detail::Lane> make_lane(const std::string& name) override;
  std::shared_ptr<detail::Latch> make_latch() override;
  std::vector<std::string> resolve(const std::vector<detail::HostPort>& hosts, std::string& problem) override;
  std::unique_ptr<detail::Handle> open_handle(const detail::HandleSettings& settings,
                                              const std::weak_ptr<detail::HandleListener>& listener) override;

  /// The process goes on after a pause.
  void resumed() { awake_since_ = process_.clock(); }
  Time awake_since() const { return awake_since_; }  ///< on the clock of the process

  /// How long a task of this process waits for a processor: usually some microseconds, seldom milliseconds.
  Time scheduling_delay();

 private:
  Process& process_;
  Ensemble& ensemble_;
  const NameService& names_;
  Random random_;
  Time awake_since_{};
};

}  // namespace zkrecipes::simulation
