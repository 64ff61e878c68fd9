// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "zkrecipes/connection.h"

namespace zkrecipes::connection {

/// A thread that runs what it is given: posted tasks in order, timed ones when they are due. It starts with the first
/// task. Tasks must not throw; one that does is logged and dropped, since there is nobody to catch it.
class TaskThread {
 public:
  explicit TaskThread(std::string name);  ///< at most 15 characters, shown by debuggers and top
  ~TaskThread();                          ///< as stop(); not in the child of a fork
  TaskThread(const TaskThread&) = delete;
  TaskThread& operator=(const TaskThread&) = delete;

  void post(std::function<void()> task);
  void post_at(Clock::time_point time, std::function<void()> task);
  bool on_this_thread() const noexcept;

  /// Runs all that is there, timed tasks ahead of their time, and what that brings, until nothing is left. Not on the
  /// thread itself.
  void drain();

  /// Runs all that is there and ends the thread when nothing is left. Waits for that, unless on the thread itself. Not
  /// final: a later post starts a thread again, which ends as soon as it has nothing left to do.
  void finish();
  /// The same without waiting.
  void finish_soon();
  /// How many tasks were posted so far. Two threads whose tasks post to each other are both done when this has not
  /// changed for either of them while finish() was called on both.
  std::uint64_t posted() const;

  enum class Rest { run, drop, abandon };
  /// Runs or drops what was posted before, drops timed tasks, and ends the thread. Later posts are dropped.
  /// `abandon` drops, and does not wait for a task that is running; nor does any stop() on the thread itself.
  void stop(Rest rest);

 private:
  struct Shared;
  static void run(const std::shared_ptr<Shared>& shared);
  std::shared_ptr<Shared> shared_;  // also owned by the thread, so that it can outlive this object
};

}  // namespace zkrecipes::connection
