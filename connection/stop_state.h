// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "connection/mutex.h"
#include "zkrecipes/stop_token.h"

namespace zkrecipes::detail {

/// What a StopSource and its tokens share. Thread-safe.
class StopState {
 public:
  static const std::shared_ptr<StopState>& of(const StopToken& token) noexcept { return token.state_; }

  bool requested() const noexcept { return requested_.load(); }
  /// Calls the listeners on this thread. False when it was requested before.
  bool request() noexcept;
  void keep(std::shared_ptr<void> what);

 private:
  friend class StopListener;
  std::atomic<bool> requested_{false};
  Mutex mutex_;
  std::uint64_t next_id_ ZKR_GUARDED_BY(mutex_) = 1;
  std::map<std::uint64_t, std::function<void()>> listeners_ ZKR_GUARDED_BY(mutex_);
  std::shared_ptr<void> kept_ ZKR_GUARDED_BY(mutex_);
};

/// Calls a function, which must not throw, when a stop is requested: on the thread that requests it, with no lock held.
/// Not if it was requested before. Once this object is destroyed the function is not started any more; it may be
/// running.
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
