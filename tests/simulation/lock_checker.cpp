// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/lock_checker.h"

#include <algorithm>
#include <utility>

namespace zkrecipes::simulation {

namespace {

bool excludes(LockKind a, LockKind b) {
  return a != LockKind::read || b != LockKind::read;
}

std::string describe(const LockChecker::Taken& hold) {
  return "process " + std::to_string(hold.process) + " (" + to_string(hold.kind) + ", token " + hold.token.to_string() +
         ", node " + hold.believer->node() + ")";
}

}  // namespace

LockChecker::PathId LockChecker::add_path(std::string path, int permits) {
  Path added;
  added.name = std::move(path);
  added.permits = permits;
  paths_.push_back(std::move(added));
  return paths_.size() - 1;
}

LockChecker::HoldId LockChecker::taken(PathId id, const Taken& hold) {
  Path& path = paths_[id];
  const Present added{next_hold_++, scheduler_.now(), hold};
  if (hold.believer->believes()) {
    ++grants_;
    check_exclusion(id, path, added);
    if (counts(path, added)) check_tokens(id, path, added);
  }
  path.present.push_back(added);
  return added.id;
}

/// Whether it believes that it holds, and is not excused because its node was deleted by hand.
bool LockChecker::counts(const Path& path, const Present& one) const {
  if (!one.hold.believer->believes()) return false;
  if (path.deleted.empty()) return true;
  const std::vector<std::string> nodes = one.hold.believer->nodes();
  return std::all_of(nodes.begin(), nodes.end(), [&](const std::string& node) {
    const auto found = path.deleted.find(node);
    if (found == path.deleted.end()) return true;
    const auto& [at, grace] = found->second;
    if (one.hold.kind == LockKind::simple && one.since > at + grace) return true;
    return scheduler_.now() > std::max(at, one.since) + grace;
  });
}

void LockChecker::check_exclusion(PathId id, const Path& path, const Present& added) {
  if (overlaps_allowed_ || !counts(path, added)) return;
  if (added.hold.kind != LockKind::semaphore) {
    for (const Present& other : path.present)
      if (excludes(added.hold.kind, other.hold.kind) && counts(path, other) &&
          !(added.hold.downgraded && other.hold.token == added.hold.token))
        return report("two valid holds: " + describe(other.hold) + " has held for " +
                          std::to_string((scheduler_.now() - other.since).count() / 1'000'000) +
                          " ms and still does, and " + describe(added.hold) + " has just been granted",
                      id, {other.hold.process, added.hold.process});
    return;
  }
  std::vector<int> holders{added.hold.process};
  int permits = added.hold.permits;
  for (const Present& other : path.present) {
    if (!counts(path, other)) continue;
    holders.push_back(other.hold.process);
    permits += other.hold.permits;
  }
  if (permits <= path.permits) return;
  std::string what = std::to_string(permits) + " permits of " + std::to_string(path.permits) +
                     " are in valid holds of a semaphore: " + describe(added.hold) + " has just been granted " +
                     std::to_string(added.hold.permits);
  for (const Present& other : path.present)
    if (counts(path, other)) what += ", " + describe(other.hold);
  report(std::move(what), id, std::move(holders));
}

void LockChecker::check_tokens(PathId id, Path& path, const Present& added) {
  // A hold with all permits of a semaphore excludes all others.
  const bool exclusive =
      added.hold.kind == LockKind::semaphore ? added.hold.permits == path.permits : added.hold.kind != LockKind::read;
  const std::int64_t token = added.hold.token.zxid;
  const std::int64_t newest = exclusive ? path.newest_token : path.newest_exclusive;
  if (token < newest || (token == newest && !added.hold.downgraded && !added.hold.retained))
    report("tokens do not grow: " + describe(added.hold) + " was granted after token " + std::to_string(newest), id,
           {added.hold.process});
  if (added.hold.token.version != 0 && exclusive) {
    if (added.hold.token.version <= path.newest_version)
      report("versions do not grow: " + describe(added.hold) + " was granted after version " +
                 std::to_string(path.newest_version),
             id, {added.hold.process});
    path.newest_version = std::max(path.newest_version, added.hold.token.version);
  }
  path.newest_token = std::max(path.newest_token, token);
  if (exclusive) path.newest_exclusive = std::max(path.newest_exclusive, token);
}

void LockChecker::released(PathId id, HoldId hold) {
  auto& present = paths_[id].present;
  const auto found = std::find_if(present.begin(), present.end(), [&](const Present& one) { return one.id == hold; });
  if (found == present.end()) return;
  *found = present.back();
  present.pop_back();
}

void LockChecker::process_died(int process) {
  for (Path& path : paths_)
    path.present.erase(std::remove_if(path.present.begin(), path.present.end(),
                                      [&](const Present& one) { return one.hold.process == process; }),
                       path.present.end());
}

void LockChecker::node_deleted(PathId path, const std::string& node, Time grace) {
  paths_[path].deleted[node] = {scheduler_.now(), grace};
}

void LockChecker::report(std::string what, PathId path, std::vector<int> processes, Time began) {
  if (!violation_)
    violation_ = Violation{scheduler_.now(), std::move(what), paths_[path].name, std::move(processes), began};
}

void LockChecker::report(std::string what, int process) {
  if (!violation_) violation_ = Violation{scheduler_.now(), std::move(what), {}, {process}, {}};
}

}  // namespace zkrecipes::simulation
