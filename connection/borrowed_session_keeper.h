// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "connection/borrowed_nodes.h"
#include "connection/leftovers.h"
#include "connection/request_sender.h"
#include "connection/session_keeper.h"

namespace zkrecipes::detail {

/// How to get at the program's own handle.
using BorrowHandle = std::function<std::unique_ptr<Handle>(const std::weak_ptr<HandleListener>&)>;

/// Watches over the session of a handle that the program has lent to us. That session goes on when our lease on it has
/// run out and when we close, so nodes that are left behind then have to be removed.
class BorrowedSessionKeeper final : public SessionKeeper {
 public:
  /// `sender` reaches the server while the session is ours. `leftover_removed` is called without the mutex.
  BorrowedSessionKeeper(const ConnectionParts& parts, BorrowHandle borrow, RequestSender& sender, BorrowedNodes& nodes,
                        LeftoverHandler leftover_removed);

  void on_session_event(std::uint32_t handle, SessionEvent event, Time now, Outbox& outbox) override;
  bool listens_to(std::uint32_t handle) const override { return handle_ && handle_->number() == handle; }
  void set_servers(ServerList /*list*/, std::string /*text*/) override {}  // they belong to the program
  std::function<void()> say_goodbye(bool unanswered) override;
  std::vector<HandlePtr> take_handles() override;

 private:
  /// Sends requests although the connection is closed, as long as there is a handle.
  class LastWords final : public RequestSender {
   public:
    explicit LastWords(BorrowedSessionKeeper& keeper) : keeper_(keeper) {}
    void send(const SessionPtr& session, Request request, ReplyHandler done) override;
    void send_until_answered(const SessionPtr& session, Request request, ReplyHandler done) override;
    void run_after(std::chrono::milliseconds delay, std::function<void()> task) override;
    const RetryPolicy& retry_policy() const override { return keeper_.parts_.options.retry; }
    World& world() const override { return keeper_.parts_.world; }
    const LogPtr& log() const override { return keeper_.parts_.log; }

   private:
    BorrowedSessionKeeper& keeper_;
  };

  void begin(Time now) override;
  void tick_handles(Time now, Outbox& outbox) override;
  Time next_handle_tick(Time now) const override;
  void answered(const Pending& pending, Time now, Outbox& outbox) override;
  void not_answered(Status status, Time now, Outbox& outbox) override;
  void send_light_heartbeat(bool anything_sent, Time now, Outbox& outbox) override;
  void session_ended(Time /*now*/, Outbox& /*outbox*/) override {}
  void session_connected(Outbox& outbox) override;
  void closing() override;
  std::string where() const override { return {}; }
  std::string lost_line() const override;

  Time connected_since(Time now) const;
  void note_state(Time now, Outbox& outbox);
  void apply(SessionEvent event, Time now, Outbox& outbox);
  void listen(SessionPtr session);

  const BorrowHandle borrow_;
  RequestSender& sender_;
  BorrowedNodes& nodes_;
  const LeftoverHandler leftover_removed_;
  LastWords last_words_{*this};
  HandlePtr handle_;
  SessionPtr last_session_;                 // also after the close
  SessionPtr leftovers_removed_in_;         // the session in which an earlier one's leftovers were removed
  std::vector<Request> unwatch_on_return_;  // what the handle is to be rid of
  bool expired_ = false;                    // the session, for good
};

}  // namespace zkrecipes::detail
