// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/container/small_vector.hpp>
#include <functional>
#include <utility>

#include "connection/guarded_call.h"
#include "connection/requests.h"
#include "connection/world.h"

namespace zkrecipes::detail {

/// What is due while a lock is held, to be run once it is not. Usually that is one completion, for which nothing is
/// allocated.
class Outbox {
 public:
  void add(std::function<void()> task) { items_.emplace_back(std::move(task)); }

  void complete(ReplyHandler&& done, Reply&& reply) {
    if (done) items_.emplace_back(std::move(done), std::move(reply));
  }
  void complete(ReplyHandler&& done, Status status) {
    Reply reply;
    reply.status = status;
    complete(std::move(done), std::move(reply));
  }

  /// On a thread of the library. One that throws, for instance because memory is short, is logged; the others still
  /// run.
  void run() {
    for (Item& item : items_) {
      Item due = std::move(item);  // destroyed, with all that it owns, before the next begins
      call_guarded(process_log(), "a completion", due);
    }
  }
  /// On a caller's thread, which must not be surprised by completions.
  void post_to(Lane& lane) {
    for (Item& item : items_) lane.post([item = std::move(item)]() mutable { item(); });
  }

 private:
  /// A task, or a completion with its reply.
  struct Item {
    explicit Item(std::function<void()> due) : task(std::move(due)) {}
    Item(ReplyHandler&& handler, Reply&& answer) : done(std::move(handler)), reply(std::move(answer)) {}
    void operator()() {
      if (task)
        task();
      else
        done(std::move(reply));
    }

    std::function<void()> task;
    ReplyHandler done;
    Reply reply;
  };
  boost::container::small_vector<Item, 1> items_;
};

}  // namespace zkrecipes::detail
