// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "connection/client.h"
#include "connection/mutex.h"
#include "recipes/hold.h"
#include "zkrecipes/hold.h"
#include "zkrecipes/lock_options.h"

namespace zkrecipes::detail {

/// A hold that can be turned from a write hold into a read hold without waiting for the server. Destroying it releases
/// it.
///
/// It is one hold all the time: the write node stays until the read node stands, so there is no moment without a node,
/// the token stays the same, and those that subscribed to its loss stay subscribed. If the server refuses the read node
/// for good, the write node stays in its place until the release: nobody else gets in, readers wait longer.
///
/// Thread-safe. Blocks nowhere.
class DowngradableHold : public std::enable_shared_from_this<DowngradableHold> {
 public:
  DowngradableHold(Hold hold, LockOptions options);

  /// At most once, with a write hold. Nothing is sent for a hold that is lost.
  void downgrade();

  /// Hands the removal of the node over, and that of a read node that is still being made.
  void release() noexcept;

  bool is_valid() const noexcept;
  Clock::time_point valid_until() const noexcept;
  FencingToken token() const noexcept;
  std::string node() const;
  Subscription on_lost(std::function<void()> callback);
  /// Not called any more after downgrade().
  Subscription on_write_lost(std::function<void()> callback);

 private:
  void downgraded(Status status, std::shared_ptr<HeldNode> read);

  const LockOptions options_;
  const std::shared_ptr<std::atomic<bool>> is_write_ = std::make_shared<std::atomic<bool>>(true);
  mutable Mutex mutex_;
  Hold hold_ ZKR_GUARDED_BY(mutex_);
};

}  // namespace zkrecipes::detail
