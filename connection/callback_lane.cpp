// SPDX-License-Identifier: Apache-2.0
#include "connection/callback_lane.h"

#include <atomic>
#include <utility>

#include "connection/fork_guard.h"
#include "connection/guarded_call.h"
#include "connection/thread_role.h"

namespace zkrecipes::detail {

namespace {

/// A callback on its way through the executor. Shared by all copies that the executor makes of what it is given.
class HandedOver {
 public:
  HandedOver(std::function<void()> callback, LogPtr log) : callback_(std::move(callback)), log_(std::move(log)) {}

  void run() noexcept {
    if (fork_guard_.in_child() || begun_.exchange(true)) return;
    const std::function<void()> callback = std::move(callback_);
    call_guarded(*log_, "a callback", callback);
  }

 private:
  const ForkGuard fork_guard_;
  std::atomic<bool> begun_{false};
  std::function<void()> callback_;  // for the one that has begun
  const LogPtr log_;
};

}  // namespace

CallbackLane::CallbackLane(std::unique_ptr<Lane> lane, std::shared_ptr<const Executor> executor, LogPtr log)
    : lane_(std::move(lane)), executor_(std::move(executor)), log_(std::move(log)) {}

void CallbackLane::post(std::function<void()> callback, std::shared_ptr<const void> keep_alive) {
  // What a task owns is moved out of it, so that it is destroyed while the thread still counts as the program's.
  if (!executor_)
    return lane_->post([callback = std::move(callback), keep_alive = std::move(keep_alive)]() mutable {
      const ThreadRole role(ThreadRole::Role::program);
      const auto kept = std::move(keep_alive);
      const auto due = std::move(callback);
      due();
    });
  auto handed_over = std::make_shared<HandedOver>(std::move(callback), log_);
  lane_->post(
      [executor = executor_, log = log_, owned = std::move(handed_over), keep_alive = std::move(keep_alive)]() mutable {
        const ThreadRole role(ThreadRole::Role::program);
        const auto kept = std::move(keep_alive);
        const auto job = std::move(owned);
        bool taken = false;
        call_guarded(*log, "ConnectionOptions::executor", [&] {
          (*executor)([job] { job->run(); });
          taken = true;
        });
        if (!taken) job->run();
      });
}

}  // namespace zkrecipes::detail
