// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "connection/fork_guard.h"
#include "connection/guarded_call.h"
#include "connection/mutex.h"
#include "zkrecipes/subscription.h"

namespace zkrecipes::detail {

/// The callback of one Subscription, and the threads that are inside it. Thread-safe. The callback is neither called
/// nor destroyed with the mutex held.
class Slot {
 public:
  virtual ~Slot() = default;
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;

  static Subscription subscription(std::shared_ptr<Slot> slot) { return Subscription(std::move(slot)); }

  // See Subscription.
  bool connected() const noexcept;
  void disconnect() noexcept;
  void disconnect_and_wait() noexcept;

  /// True in the child of a fork, where the mutex may have been held and the condition waited for at that moment.
  bool in_forked_child() const noexcept { return fork_guard_.in_child(); }

 protected:
  explicit Slot(std::shared_ptr<const void> callback) : callback_(std::move(callback)) {}

  /// The callback, to be given back to leave() by the same thread; null when disconnected.
  std::shared_ptr<const void> enter() noexcept;
  void leave(std::shared_ptr<const void> callback) noexcept;

 private:
  const ForkGuard fork_guard_;
  mutable Mutex mutex_;
  Condition left_;
  std::shared_ptr<const void> callback_ ZKR_GUARDED_BY(mutex_);
  // Several when an executor runs callbacks on several threads, and one twice when a callback runs others inside it.
  boost::container::small_vector<std::thread::id, 2> inside_ ZKR_GUARDED_BY(mutex_);
};

/// A slot whose callback takes these arguments.
template <class... Args>
class CallbackSlot final : public Slot {
 public:
  using Callback = std::function<void(Args...)>;

  /// `name` is a literal and names the callback in the log.
  CallbackSlot(const char* name, Callback callback, LogPtr log)
      : Slot(std::make_shared<const Callback>(std::move(callback))), name_(name), log_(std::move(log)) {}

  void call(Args... args) noexcept {
    std::shared_ptr<const void> callback = enter();
    if (!callback) return;
    call_guarded(*log_, name_, [&] { (*static_cast<const Callback*>(callback.get()))(args...); });
    leave(std::move(callback));
  }

 private:
  const char* const name_;
  const LogPtr log_;
};

/// The slots that are subscribed to one thing; the end of that thing disconnects them. A Subscription owns its slot, so
/// nothing here keeps an ended one alive. Guarded by its owner's mutex; no callback is called or destroyed with it.
template <class... Args>
class Subscribers {
 public:
  using SlotPtr = std::shared_ptr<CallbackSlot<Args...>>;

  Subscribers() = default;
  ~Subscribers() {
    for (const SlotPtr& slot : connected()) slot->disconnect();
  }
  Subscribers(const Subscribers&) = delete;
  Subscribers& operator=(const Subscribers&) = delete;

  void add(const SlotPtr& slot) {
    // Ended ones are removed when they may be half of all, so that each add() takes constant time on average.
    if (slots_.size() >= purge_at_) {
      slots_.erase(std::remove_if(slots_.begin(), slots_.end(), [](const auto& weak) { return weak.expired(); }),
                   slots_.end());
      purge_at_ = std::max(kFewSlots, 2 * slots_.size());
    }
    slots_.push_back(slot);
  }

  /// In the order of their subscription.
  std::vector<SlotPtr> connected() const {
    std::vector<SlotPtr> result;
    for (const auto& weak : slots_)
      if (SlotPtr slot = weak.lock()) result.push_back(std::move(slot));
    return result;
  }
  /// The same, and none of them is subscribed here any more.
  std::vector<SlotPtr> take() {
    std::vector<SlotPtr> result = connected();
    slots_.clear();
    return result;
  }

 private:
  static constexpr std::size_t kFewSlots = 8;
  std::vector<std::weak_ptr<CallbackSlot<Args...>>> slots_;
  std::size_t purge_at_ = kFewSlots;
};

}  // namespace zkrecipes::detail
