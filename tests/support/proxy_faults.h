// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>

#include "tests/support/fault_proxy.h"

namespace zkrecipes::testing {

struct Fault {
  enum class Action { drop_reply, cut_half_way, cut_before, hold_reply, answer_with_error };
  Action action;
  RequestKind kind;
  int to_go;  // requests of the kind up to and with the one to hit; 0 or less: the next
  std::int32_t error = 0;
};

/// Decides which request is hit by which fault.
class FaultPlan {
 public:
  void arm(Fault fault) { waiting_.push_back(fault); }
  void arm_again(Fault fault) { waiting_.push_front(fault); }
  void clear() { waiting_.clear(); }

  std::optional<Fault> take_for(RequestKind kind) {
    auto hit = waiting_.end();
    for (auto fault = waiting_.begin(); fault != waiting_.end(); ++fault) {
      if (fault->kind == kind && --fault->to_go <= 0 && hit == waiting_.end()) {
        hit = fault;
      }
    }
    if (hit == waiting_.end()) {
      return std::nullopt;
    }
    const Fault taken = *hit;
    waiting_.erase(hit);
    return taken;
  }

 private:
  std::deque<Fault> waiting_;
};

/// Counts and events that tests may ask and wait for from their own threads.
class Ledger {
 public:
  template <class Change>
  void update(Change change) {
    {
      const std::lock_guard<std::mutex> guard(mutex_);
      change(*this);
    }
    changed_.notify_all();
  }

  template <class Question>
  auto ask(Question question) const {
    const std::lock_guard<std::mutex> guard(mutex_);
    return question(*this);
  }

  template <class Condition>
  bool wait(std::chrono::milliseconds limit, Condition condition) const {
    std::unique_lock<std::mutex> guard(mutex_);
    return changed_.wait_until(guard, std::chrono::steady_clock::now() + limit, [&] { return condition(*this); });
  }

  // guarded by mutex_: for use inside update, ask and wait
  FaultProxy::Counts counts;
  std::deque<Observed> trace;
  int armed = 0;
  int open_connections = 0;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
};

/// Shared by the connections of one proxy. Used on the proxy's thread only, but for the ledger.
struct ProxyShared {
  FaultPlan plan;
  std::function<void(const Observed&)> observer;
  Ledger ledger;

  void saw(Message message, long connection);
  void fired() {
    ledger.update([](Ledger& now) { --now.armed; });
  }
};

}  // namespace zkrecipes::testing
