// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/simulation/scheduler.h"
#include "tests/simulation/simulated_locks.h"
#include "zkrecipes/fencing_token.h"

namespace zkrecipes::simulation {

/// A promise that was broken.
struct Violation {
  Time time{};
  std::string what;
  std::string path;            ///< of the lock; empty if it is not about one
  std::vector<int> processes;  ///< that take part in it
  Time began{};                ///< when what should have ended by then began; 0 if it is not about that
};

/// A hold as the process that has it sees it.
class Believer {
 public:
  virtual ~Believer() = default;
  /// Whether the owner would believe now, by its own clock, that it holds. Also answers for a paused process, which
  /// would believe so if it went on now. Changes nothing.
  virtual bool believes() const = 0;
  virtual const std::string& node() const = 0;
  /// The nodes without any of which it does not hold.
  virtual std::vector<std::string> nodes() const { return {node()}; }
};

/// Judges grants at the moment in which a program gets them, on the simulator's clock.
///
/// Holds never become valid again, so two valid holds that exclude each other are seen at the latest when the second
/// one is taken. A hold that is no longer valid when it is taken does not count.
class LockChecker {
 public:
  explicit LockChecker(const Scheduler& scheduler) : scheduler_(scheduler) {}

  using PathId = std::size_t;
  /// `permits` is for semaphores.
  PathId add_path(std::string path, int permits);
  /// With clocks that drift beyond the margin two holds may be valid at once; tokens still grow.
  void allow_overlaps() { overlaps_allowed_ = true; }

  struct Taken {
    int process = 0;
    LockKind kind = LockKind::fair;
    FencingToken token;
    const Believer* believer = nullptr;
    bool downgraded = false;  ///< a read hold that keeps the token of its writer
    int permits = 1;          ///< of a semaphore
    bool retained = false;    ///< keeps the node, and so the token, of the contender's hold before
  };
  using HoldId = std::uint64_t;
  HoldId taken(PathId path, const Taken& hold);
  void released(PathId path, HoldId hold);
  /// Nothing that a dead process believes counts.
  void process_died(int process);
  /// Somebody deletes the node of a contender by hand. Its owner may believe for `grace` that it holds. Where the name
  /// is that of the lock itself, any node that stands there within that time may be the one that is deleted.
  void node_deleted(PathId path, const std::string& node, Time grace);

  void report(std::string what, PathId path, std::vector<int> processes, Time began = {});
  void report(std::string what, int process);
  /// The first one.
  const std::optional<Violation>& violation() const { return violation_; }

  std::uint64_t grants() const { return grants_; }  ///< of valid holds

 private:
  struct Present {
    HoldId id;
    Time since;
    Taken hold;
  };
  struct Path {
    std::string name;
    int permits = 1;
    std::vector<Present> present;
    std::int64_t newest_token = 0;      // of any hold
    std::int64_t newest_exclusive = 0;  // of a hold that excludes all others
    std::int32_t newest_version = 0;
    struct Deleted {
      Time at;
      Time grace;
    };
    std::map<std::string, Deleted> deleted;
  };
  bool counts(const Path& path, const Present& one) const;
  void check_exclusion(PathId id, const Path& path, const Present& added);
  void check_tokens(PathId id, Path& path, const Present& added);

  const Scheduler& scheduler_;
  std::vector<Path> paths_;
  HoldId next_hold_ = 1;
  std::uint64_t grants_ = 0;
  bool overlaps_allowed_ = false;
  std::optional<Violation> violation_;
};

}  // namespace zkrecipes::simulation
