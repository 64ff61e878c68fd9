// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <boost/container/small_vector.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "connection/client.h"
#include "connection/mutex.h"
#include "recipes/grant.h"
#include "zkrecipes/error.h"
#include "zkrecipes/hold.h"

namespace zkrecipes::detail {

/// The node behind a Hold, or its nodes: it knows whether it is still held. Lost when its session is over or one of its
/// nodes is gone; released once, by whoever asks first. Thread-safe.
class HeldNode : public std::enable_shared_from_this<HeldNode> {
 public:
  /// Starts watching over the node at once.
  static std::shared_ptr<HeldNode> make(Grant grant);
  /// The two steps of make(), for an owner that must know the HeldNode before that can be lost.
  static std::shared_ptr<HeldNode> make_unwatched(Grant grant);
  void watch_over();
  ~HeldNode();

  bool is_valid() const noexcept;
  /// Not after the loss, nor after the release.
  Clock::time_point valid_until() const noexcept;
  bool released() const noexcept { return released_at_->load() != kNever; }
  const Grant& grant() const noexcept { return grant_; }
  Subscription on_lost(std::function<void()> callback);

  /// From now on the loss of `heir` is what the subscribers hear of. `heir` was made in place of this one and is
  /// unknown to others. Returns false, and changes nothing, when either of the two is lost or released.
  bool hand_subscribers_to(HeldNode& heir);

  /// Hands the removal over. Harmless when repeated. Not while holding a mutex: the observer is called.
  void release_in_background() noexcept;
  /// The same for a caller that holds a mutex, and that calls tell_observer() when it does not any more.
  void release_unobserved() noexcept;
  void tell_observer() const noexcept {
    if (grant_.observed) grant_.observed->deliver();
  }
  /// Waits for the server's word; see Hold::release(). False when the time is over first. `sent` is called once the
  /// removal is on its way, or if nothing has to be removed.
  bool release_confirmed(Clock::time_point deadline, const std::function<void()>& sent);
  bool release_confirmed(Clock::time_point deadline);

  /// The node is known to be gone, or the session over. The first call for a hold that is not released logs a line
  /// and notifies the subscribers.
  void lose(LossReason reason = LossReason::node_deleted);

 private:
  explicit HeldNode(Grant grant);
  void watch_for_revocation(std::size_t index);
  void post_revocation();
  void stop_watching();
  std::size_t node_count() const noexcept { return 1 + grant_.more_nodes.size(); }
  const std::string& node(std::size_t index) const { return index == 0 ? grant_.node : grant_.more_nodes[index - 1]; }
  /// `done` may be null. It is called once, with ok or with a status that is not, when all removals have ended.
  void remove_nodes(const std::function<void(Status)>& done);
  bool place_is_anothers() const noexcept;
  bool lost() const noexcept { return lost_at_.load() != kNever; }
  bool begin_release() noexcept;
  Error lost_error() const;
  void post_loss(const std::shared_ptr<CallbackSlot<>>& slot);

  static constexpr Clock::time_point kNever = Clock::time_point::max();
  const Grant grant_;
  const std::shared_ptr<std::atomic<Clock::time_point>> released_at_ =
      std::make_shared<std::atomic<Clock::time_point>>(kNever);
  std::atomic<Clock::time_point> lost_at_{kNever};
  std::atomic<LossReason> loss_{LossReason::session_expired};  // set before lost_at_

  Mutex mutex_;
  Subscribers<> subscribers_ ZKR_GUARDED_BY(mutex_);  // none any more once it is lost
  Session::ListenerId session_listener_ ZKR_GUARDED_BY(mutex_) = 0;
  // One for each node.
  boost::container::small_vector<ProbeId, 1> probes_ ZKR_GUARDED_BY(mutex_);
  std::vector<WatchId> revocation_watches_ ZKR_GUARDED_BY(mutex_);  // empty without on_revoke
};

}  // namespace zkrecipes::detail
