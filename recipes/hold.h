// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <boost/signals2/signal.hpp>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "connection/client.h"
#include "recipes/node_name.h"
#include "zkrecipes/hold.h"

namespace zkrecipes::recipes {

/// What a grant consists of.
struct Grant {
  std::shared_ptr<connection::Client> client;
  connection::SessionPtr session;
  std::string node;
  NodeKind kind = NodeKind::lock;
  connection::NodeRole role = connection::NodeRole::holds;
  std::int64_t shared_czxid = 0;  ///< of a node whose name is not unique; 0: the name is
  FencingToken token;
  AcquisitionCost cost;
  std::function<void(const std::string&)> on_revoke;
};

/// Why a hold was lost, for the log.
enum class LossReason { session_over, lease_ran_out, node_deleted };

/// The node behind a Hold: it knows whether it is still held. Lost when its session is over or its node is gone;
/// released once, by whoever asks first. Thread-safe.
class HeldNode : public std::enable_shared_from_this<HeldNode> {
 public:
  /// Starts watching over the node at once.
  static std::shared_ptr<HeldNode> make(Grant grant);
  ~HeldNode();

  bool is_valid() const noexcept;
  /// Not after the loss, nor after the release.
  Clock::time_point valid_until() const noexcept;
  bool released() const noexcept { return released_at_.load() != kNever; }
  const Grant& grant() const noexcept { return grant_; }
  Subscription on_lost(std::function<void()> callback);

  /// Hands the removal over. Harmless when repeated.
  void release_in_background() noexcept;
  /// Waits for the server's word; see Hold::release().
  void release_confirmed();

  /// The node is known to be gone, or the session over. The first call for a hold that is not released logs a line
  /// and notifies the subscribers.
  void lose(LossReason reason = LossReason::node_deleted);

 private:
  using Signal = boost::signals2::signal<void()>;

  explicit HeldNode(Grant grant);
  void watch_over();
  void watch_for_revocation();
  void stop_watching();
  bool place_is_anothers() const noexcept;
  bool lost() const noexcept { return lost_at_.load() != kNever; }
  bool begin_release() noexcept;

  static constexpr Clock::time_point kNever = Clock::time_point::max();
  const Grant grant_;
  std::atomic<Clock::time_point> released_at_{kNever};
  std::atomic<Clock::time_point> lost_at_{kNever};

  std::mutex mutex_;
  std::unique_ptr<Signal> signal_;                        // guarded by mutex_; made when first needed
  connection::Session::ListenerId session_listener_ = 0;  // guarded by mutex_
  connection::ProbeId probe_ = 0;                         // guarded by mutex_
  connection::WatchId revocation_watch_ = 0;              // guarded by mutex_
};

}  // namespace zkrecipes::recipes
