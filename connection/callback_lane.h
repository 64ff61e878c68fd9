// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "connection/log.h"
#include "connection/world.h"

namespace zkrecipes::detail {

/// ConnectionOptions::executor.
using Executor = std::function<void(std::function<void()>)>;

/// A lane for user callbacks: runs them, or hands them to the program's executor, one at a time and in order.
/// Thread-safe.
///
/// An executor may keep, copy or drop what it is given, and may run it on any thread: it is run at most once, not in
/// the child of a fork, and what it owns is destroyed when it has run. If the executor throws, the callback runs on the
/// lane itself, unless it has run already: a lost signal would be worse than one on another thread.
class CallbackLane {
 public:
  /// Null for the executor: the lane runs the callbacks.
  CallbackLane(std::unique_ptr<Lane> lane, std::shared_ptr<const Executor> executor, LogPtr log);

  /// `keep_alive` is kept until the callback was run or handed over. What the callback itself owns may stay in the
  /// program's executor for any time.
  void post(std::function<void()> callback, std::shared_ptr<const void> keep_alive = nullptr);

  /// For whoever registers a callback and can be told that there is no thread for it; see Lane.
  void start() { lane_->start(); }

  // See Lane. They are about the lane, not about what the executor has not run yet.
  bool on_this_thread() const noexcept { return lane_->on_this_thread(); }
  void finish() { lane_->finish(); }
  void finish_soon() { lane_->finish_soon(); }
  std::uint64_t posted() const { return lane_->posted(); }
  void stop(Lane::Rest rest) { lane_->stop(rest); }

 private:
  const std::unique_ptr<Lane> lane_;
  const std::shared_ptr<const Executor> executor_;  // tasks own it, too: they may outlive this
  const LogPtr log_;
};

}  // namespace zkrecipes::detail
