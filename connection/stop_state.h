// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "connection/fork_guard.h"
#include "connection/mutex.h"
#include "zkrecipes/stop_token.h"

namespace zkrecipes::detail {

/// What a StopSource and its tokens share. Thread-safe. In the child of a fork it has other listeners than in the
/// parent: the mutex may have been held at that moment, and those who listen to it are the parent's.
class StopState {
 public:
  StopState() = default;
  ~StopState();
  StopState(const StopState&) = delete;
  StopState& operator=(const StopState&) = delete;

  static const std::shared_ptr<StopState>& of(const StopToken& token) noexcept { return token.state_; }

  bool requested() const noexcept { return requested_.load(); }
  /// Calls the listeners on this thread. False when it was requested before.
  bool request() noexcept;
  /// By the one that has made this object, before others know it.
  void keep(std::shared_ptr<void> what);

 private:
  friend class StopListener;
  struct Listeners {
    const ForkGuard process;
    Mutex mutex;
    std::map<std::uint64_t, std::function<void()>> by_id ZKR_GUARDED_BY(mutex);
  };
  Listeners& listeners();

  std::atomic<bool> requested_{false};
  std::atomic<std::uint64_t> next_id_{1};
  std::atomic<Listeners*> listeners_{new Listeners};  // of this process, once asked for
  std::shared_ptr<void> kept_;
};

/// Calls a function, which must not throw, when a stop is requested: on the thread that requests it, with no lock held.
/// Not if it was requested before. A request that is being made while this object is destroyed may still call the
/// function afterwards, so the function must own what it uses, or ask a weak_ptr for it.
class StopListener {
 public:
  StopListener() = default;
  StopListener(const StopToken& token, std::function<void()> listener);
  ~StopListener();
  StopListener(StopListener&& other) noexcept;
  StopListener& operator=(StopListener&& other) noexcept;

 private:
  void forget() noexcept;
  std::shared_ptr<StopState> state_;
  std::uint64_t id_ = 0;
};

}  // namespace zkrecipes::detail
