// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "connection/thread_annotations.h"
#include "connection/world.h"

namespace zkrecipes::detail {

/// A lane on a thread of its own, which starts with the first task. Where that fails, the threads of other lanes try
/// again until it does not.
class TaskThread final : public Lane {
 public:
  explicit TaskThread(std::string name);  ///< at most 15 characters, shown by debuggers and top
  ~TaskThread() override;                 ///< as stop(); not in the child of a fork
  TaskThread(const TaskThread&) = delete;
  TaskThread& operator=(const TaskThread&) = delete;

  void start() override;
  void post(std::function<void()> task) override;
  void post_at(Clock::time_point time, std::function<void()> task) override;
  bool on_this_thread() const noexcept override;
  void drain() override;
  void finish() override;
  void finish_soon() override;
  std::uint64_t posted() const override;
  void stop(Rest rest) override;

 private:
  struct Shared;
  class Stuck;
  void stop_thread(Rest rest);
  static void start_thread(const std::shared_ptr<Shared>& shared)
      ZKR_NO_THREAD_SAFETY_ANALYSIS;  // with the mutex of `shared` held, which is not known here
  static void run(const std::shared_ptr<Shared>& shared);
  static void run_without_thread(Shared& shared);
  std::shared_ptr<Shared> shared_;  // also owned by the thread, so that it can outlive this object
};

}  // namespace zkrecipes::detail
