// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "connection/world.h"

namespace zkrecipes::detail {

/// A lane on a thread of its own, which starts with the first task.
class TaskThread final : public Lane {
 public:
  explicit TaskThread(std::string name);  ///< at most 15 characters, shown by debuggers and top
  ~TaskThread() override;                 ///< as stop(); not in the child of a fork
  TaskThread(const TaskThread&) = delete;
  TaskThread& operator=(const TaskThread&) = delete;

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
  void stop_thread(Rest rest);
  static void run(const std::shared_ptr<Shared>& shared);
  std::shared_ptr<Shared> shared_;  // also owned by the thread, so that it can outlive this object
};

}  // namespace zkrecipes::detail
