// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "connection/client.h"
#include "connection/interruptible_mutex.h"
#include "connection/stop_state.h"
#include "recipes/callback_run.h"
#include "recipes/flow.h"
#include "recipes/hold.h"
#include "recipes/retention.h"
#include "zkrecipes/acquire_result.h"

namespace zkrecipes::detail {

/// One attempt to get a lock, and whoever waits for its outcome: a thread, a callback, or nobody any more.
///
/// Runs a flow: performs the flow's actions and reports the answers, each under the mutex, so that the flow sees one
/// event at a time. Calling the client under the mutex is safe, because the client completes nothing on the calling
/// thread and calls back without a lock of its own. Answers to an attempt that is over are dropped; the only thing that
/// is still done about them is to remove a node that was created after all.
///
/// Thread-safe. Kept alive by its outstanding requests and watches.
class Acquisition : public std::enable_shared_from_this<Acquisition> {
 public:
  /// `path` is for messages. The flow of a try ends when the connection is not up, too. `retention` and `observed` may
  /// be null.
  static std::shared_ptr<Acquisition> start(const std::shared_ptr<Client>& client, std::unique_ptr<Flow> flow,
                                            Patience patience, const std::string& path, const StopToken& stop = {},
                                            std::shared_ptr<Retention> retention = nullptr,
                                            ObservedAttemptPtr observed = nullptr);
  /// One that is granted already.
  static std::shared_ptr<Acquisition> granted(const std::shared_ptr<Client>& client, const std::string& path,
                                              std::shared_ptr<HeldNode> held);
  Acquisition(std::shared_ptr<Client> client, std::unique_ptr<Flow> flow, const std::string& path);  ///< use start()
  ~Acquisition();

  /// Leaves when the time is over, whether somebody waits or not.
  void end_at(Clock::time_point deadline);

  bool ready() const;
  /// For the flow, from whoever made it. Dropped when the outcome is decided. The caller may hold a mutex, and calls
  /// tell_observer() when it does not any more.
  void tell(const Event& event);
  /// Delivers what was recorded for the observer. Not while holding a mutex.
  void tell_observer() noexcept {
    if (observed_) observed_->deliver();
  }
  /// See PendingHold::on_ready().
  void on_ready(std::function<void(AcquireResult)> callback);

  /// Waits for the outcome and takes it. Leaves at `deadline`. A Boost.Thread interruption leaves, too.
  AcquireResult take_by(Clock::time_point deadline);
  /// See PendingHold::wait_until() and PendingHold::get().
  bool wait_until(Clock::time_point deadline);
  Hold get();

  /// Stopped, unless there is another outcome already; a hold that nobody has taken is released. The callback is called
  /// as for any other outcome.
  void cancel() noexcept;
  /// Cancels without a callback: when this returns the callback is destroyed and neither runs nor will run, unless this
  /// thread is inside it. Waits for a callback that is running on its thread.
  void drop() noexcept;

 private:
  enum class State { waiting, ready, taken };
  using Attempt = std::uint64_t;
  struct Watch {
    std::uint64_t number = 0;  // 0: none
    WatchId id = 0;
  };

  // From the client, without the mutex.
  void begin(Attempt awaited, const SessionPtr& session);
  void answered(Attempt attempt, Topic topic, Status status, const Event& event);
  void created(Attempt attempt, const SessionPtr& session, GuidPlace guid_place, const event::Created& event);
  void watch_answered(Topic topic, std::uint64_t number, Status status, const Event& event);
  void watch_fired(Topic topic, std::uint64_t number, WatchEvent what);
  void proved(Attempt attempt, Status status, action::MakeHold hold);

  /// Follows on what was done under the mutex, without it. `decided`: there is an outcome.
  void announce(bool decided) noexcept {
    if (decided) changed_.notify_all();
    tell_observer();
  }
  /// True when the outcome is decided, for announce().
  bool report(Topic topic, Status status, const Event& event) ZKR_REQUIRES(mutex_);
  void run(const Event& event) ZKR_REQUIRES(mutex_);
  void perform(action::AwaitSession& action) ZKR_REQUIRES(mutex_);
  void perform(action::Create& action) ZKR_REQUIRES(mutex_);
  void perform(action::List& action) ZKR_REQUIRES(mutex_);
  void perform(action::Look& action) ZKR_REQUIRES(mutex_);
  void perform(action::WatchNode& action) ZKR_REQUIRES(mutex_);
  void perform(action::WatchChildren& action) ZKR_REQUIRES(mutex_);
  void perform(action::Unwatch& action) ZKR_REQUIRES(mutex_);
  void perform(action::Probe& action) ZKR_REQUIRES(mutex_);
  void perform(action::Unprobe& action) ZKR_REQUIRES(mutex_);
  void perform(action::Remove& action) ZKR_REQUIRES(mutex_);
  void perform(action::RaiseVersion& action) ZKR_REQUIRES(mutex_);
  void perform(action::Mark& action) ZKR_REQUIRES(mutex_);
  void perform(action::Wait& action) ZKR_REQUIRES(mutex_);
  void perform(action::Timer& action) ZKR_REQUIRES(mutex_);
  void perform(action::MakeHold& action) ZKR_REQUIRES(mutex_);
  void perform(action::Fail& action) ZKR_REQUIRES(mutex_);
  void perform(action::NotServed& action) ZKR_REQUIRES(mutex_);
  void make_hold(action::MakeHold& hold) ZKR_REQUIRES(mutex_);
  void leave() ZKR_REQUIRES(mutex_);
  void end_attempt() ZKR_REQUIRES(mutex_);
  void finish(AcquireStatus status, std::shared_ptr<HeldNode> held, std::exception_ptr error) ZKR_REQUIRES(mutex_);
  void give_up(AcquireStatus why) noexcept;
  AcquireStatus why_not_in_time() const {
    return client_->is_connected() ? AcquireStatus::timed_out : AcquireStatus::not_connected;
  }
  Watch& watch_on(Topic topic) ZKR_REQUIRES(mutex_) { return watches_[static_cast<std::size_t>(topic)]; }
  bool is_current(Attempt attempt) const ZKR_REQUIRES(mutex_) {
    return state_ == State::waiting && attempt_ == attempt;
  }

  bool wait(InterruptibleLock& lock, Clock::time_point deadline) ZKR_REQUIRES(mutex_);
  AcquireResult take() ZKR_REQUIRES(mutex_);
  void post_callback() ZKR_REQUIRES(mutex_);
  void run_callback();

  const std::shared_ptr<Client> client_;
  const std::string path_;
  std::shared_ptr<Retention> retention_;  // constant after start()
  ObservedAttemptPtr observed_;           // constant after start(); null: nobody observes
  const Clock::time_point started_ = client_->world().now();

  mutable InterruptibleMutex mutex_;
  InterruptibleCondition changed_;
  const std::unique_ptr<Flow> flow_ ZKR_PT_GUARDED_BY(mutex_);
  Attempt attempt_ ZKR_GUARDED_BY(mutex_) = 0;  // counts
  AwaitId awaited_session_ ZKR_GUARDED_BY(mutex_) = 0;
  AwaitId awaited_disconnect_ ZKR_GUARDED_BY(mutex_) = 0;
  TimerId deadline_timer_ ZKR_GUARDED_BY(mutex_) = 0;
  StopListener stop_listener_ ZKR_GUARDED_BY(mutex_);
  SessionPtr session_ ZKR_GUARDED_BY(mutex_);  // null between attempts
  Session::ListenerId session_listener_ ZKR_GUARDED_BY(mutex_) = 0;
  std::array<Watch, 2> watches_ ZKR_GUARDED_BY(mutex_);  // by topic
  std::uint64_t watch_number_ ZKR_GUARDED_BY(mutex_) = 0;
  ProbeId probe_ ZKR_GUARDED_BY(mutex_) = 0;
  std::vector<TimerId> timers_ ZKR_GUARDED_BY(mutex_);  // of this attempt
  int requests_ ZKR_GUARDED_BY(mutex_) = 0;             // so far
  int wakeups_ ZKR_GUARDED_BY(mutex_) = 0;              // so far

  State state_ ZKR_GUARDED_BY(mutex_) = State::waiting;
  // The outcome, when ready.
  AcquireStatus status_ ZKR_GUARDED_BY(mutex_) = AcquireStatus::failed;
  std::shared_ptr<HeldNode> held_ ZKR_GUARDED_BY(mutex_);               // granted
  std::exception_ptr error_ ZKR_GUARDED_BY(mutex_);                     // failed
  std::function<void(AcquireResult)> on_ready_ ZKR_GUARDED_BY(mutex_);  // not called yet
  int callbacks_posted_ ZKR_GUARDED_BY(mutex_) = 0;                     // tasks that will look for on_ready_
  int getters_ ZKR_GUARDED_BY(mutex_) = 0;                              // threads inside get()
  bool dropped_ ZKR_GUARDED_BY(mutex_) = false;                         // takes no callback any more
  const std::shared_ptr<CallbackRun> callback_run_ = std::make_shared<CallbackRun>();
};

}  // namespace zkrecipes::detail
