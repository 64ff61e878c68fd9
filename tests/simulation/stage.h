// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/simulation/lock_checker.h"
#include "tests/simulation/model/ensemble.h"
#include "tests/simulation/scheduler.h"
#include "tests/simulation/simulated_world.h"
#include "tests/simulation/trace.h"

namespace zkrecipes::simulation {

/// Kinds of trace lines that the workload and the faults add. Their number is that of the process, if there is one.
enum class RunTrace : std::uint32_t {
  hold = 0x200,     ///< granted, lost, released
  wait = 0x201,     ///< begun or given up
  process = 0x202,  ///< paused, killed, restarted, a connection opened or closed
  fault = 0x203,
};

enum class LockFamily { fair, simple, semaphore, read_write };

/// A lock that the processes of a run contend for.
struct LockPath {
  LockChecker::PathId id = 0;
  std::string path;
  LockFamily family = LockFamily::fair;
  int permits = 1;
  bool version_token = false;
  bool slow = false;  ///< is held for long: seconds instead of milliseconds
};

/// The jute.maxbuffer of some ensembles: enough for all requests but those with a note of kLargeNote bytes. The library
/// takes no request of 4 KiB or less for too large.
constexpr std::size_t kSmallBuffer = 6'000;
constexpr std::size_t kLargeNote = 8'000;

/// All lock paths lie under it. Some connections have it as their chroot.
inline const std::string kRootPath = "/sim";

/// What everybody in a run shares.
struct Stage {
  Scheduler& scheduler;
  Trace& trace;
  Ensemble& ensemble;
  NameService& names;
  LockChecker& checker;
  std::vector<std::string> home_addresses;  ///< of the servers, before any of them moves
  std::vector<LockPath> paths{};
  double one_server = 0;   ///< share of connections that know one server only
  bool calm = false;       ///< fewer and longer holds: more faults for each of them
  Time session_timeout{};  ///< the longest that a connection asks for
  /// A connection is being closed, which lets the simulation run on beneath it. One at a time.
  bool closing = false;
  std::unordered_map<std::string, Time> created_at{};  ///< of all nodes that the leader has

  template <class MakeText>
  void note(RunTrace kind, int process, const MakeText& make_text) {
    trace.add(static_cast<std::uint32_t>(kind), static_cast<std::uint64_t>(process), make_text);
  }
};

inline std::string process_name(int process) {
  return "process " + std::to_string(process);
}

}  // namespace zkrecipes::simulation
