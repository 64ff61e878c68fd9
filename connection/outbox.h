// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "connection/requests.h"
#include "connection/task_thread.h"

namespace zkrecipes::connection {

/// What is due while a lock is held, to be run once it is not.
class Outbox {
 public:
  void add(std::function<void()> task) { tasks_.push_back(std::move(task)); }

  void complete(ReplyHandler done, Reply reply) {
    if (!done) return;
    tasks_.push_back([done = std::move(done), reply = std::move(reply)]() mutable { done(std::move(reply)); });
  }
  void complete(ReplyHandler done, Status status) {
    Reply reply;
    reply.status = status;
    complete(std::move(done), std::move(reply));
  }

  /// On a thread of the library.
  void run() {
    for (auto& task : tasks_) std::exchange(task, nullptr)();
  }
  /// On a caller's thread, which must not be surprised by completions.
  void post_to(TaskThread& thread) {
    for (auto& task : tasks_) thread.post(std::move(task));
  }

 private:
  std::vector<std::function<void()>> tasks_;
};

}  // namespace zkrecipes::connection
