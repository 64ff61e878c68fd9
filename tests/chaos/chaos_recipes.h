// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "tests/support/history_checker.h"

namespace zkrecipes::testing {

// Shared by the driver of a chaos run and its client processes.

inline constexpr int kChaosPermits = 2;
inline constexpr int kChaosConnections = 2;  // of a process
inline constexpr int kChaosThreads = 2;      // of a connection
/// The last thread of a process has a connection of its own, see "patient".
inline constexpr int kChaosThreadsOfProcess = kChaosConnections * kChaosThreads + 1;

struct ChaosRecipe {
  const char* name;
  LockModel model;
};
/// "patient" is a FairMutex that one thread of each process wants, over a connection of its own, and keeps for longer
/// than a session lasts. Short holds are over before a server that is cut off has lied about one of them, and a
/// connection with a write on its way gets no answer from such a server that could tell a lie.
inline constexpr ChaosRecipe kChaosRecipes[] = {
    {"fair", LockModel::fenced_mutex},      {"simple", LockModel::fenced_mutex}, {"recursive", LockModel::fenced_mutex},
    {"read_write", LockModel::read_write},  {"semaphore", LockModel::semaphore}, {"patient", LockModel::fenced_mutex},
    {"retained", LockModel::retained_mutex}};

inline std::string chaos_history_file(const std::string& directory, const std::string& recipe,
                                      const std::string& process) {
  return directory + "/" + recipe + "." + process;
}

/// The name in histories of a thread of a process.
inline std::string chaos_thread_name(const std::string& process, int thread) {
  return process + "." + std::to_string(thread);
}

/// "a,b" -> {"a", "b"}
inline std::vector<std::string> split_list(const std::string& list) {
  std::vector<std::string> parts;
  std::istringstream in(list);
  for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
  return parts;
}

}  // namespace zkrecipes::testing
