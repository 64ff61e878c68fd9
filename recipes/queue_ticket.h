// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "connection/client.h"
#include "recipes/hold.h"
#include "recipes/node_name.h"
#include "recipes/queue_rule.h"
#include "recipes/ticket.h"
#include "zkrecipes/lock_options.h"

namespace zkrecipes::recipes {

/// Which queue, and as what. Shared by the tickets of a lock.
struct QueueSpec {
  std::string path;
  NodeKind kind = NodeKind::lock;
  LockOptions options;
  /// `waits`: being first is only a step on the way (a semaphore's line), so nobody relies on it being valid.
  connection::NodeRole role = connection::NodeRole::holds;
};

/// One place in the queue of a fair recipe.
///
/// Join: the node is created and the queue listed in one round trip. Then the rule says whether we hold or which one
/// node to watch; when that is deleted we list again, unless the rule said that the deletion proves our turn. A lost
/// session, or a node that somebody deleted, means joining again at the back.
///
/// Thread-safe. Lives as long as its completions are outstanding: a ticket that left still removes a node whose
/// creation is only reported later.
class QueueTicket final : public Ticket, public std::enable_shared_from_this<QueueTicket> {
 public:
  QueueTicket(std::shared_ptr<connection::Client> client, std::shared_ptr<const QueueSpec> spec, Patience patience);

  void join(OutcomeHandler done) override;
  bool leave() override;

 private:
  /// What belongs to one session; guarded by mutex_. A completion of an earlier attempt finds that it is no longer the
  /// current one.
  struct Attempt {
    connection::SessionPtr session;
    connection::Session::ListenerId session_listener = 0;
    std::string guid;
    std::string node;  // full path; empty until created
    std::int64_t czxid = 0;
    connection::NameList children;  // the listing that went out with the create
    bool listed = false;
    connection::NodeStat parent;     // as of the last listing
    bool proof_by_deletion = false;  // of the node that is watched
    connection::WatchId watch = 0;
    connection::ProbeId probe = 0;
  };
  using AttemptPtr = std::shared_ptr<Attempt>;
  using Lock = std::unique_lock<std::mutex>;

  // Each takes the lock, or is given it; what ends in a call to the outside gives it back first.
  void await_session();
  void begin(connection::SessionPtr session);
  void look_before_joining(const AttemptPtr& attempt);
  void send_create_and_list(const AttemptPtr& attempt);
  void on_created(const AttemptPtr& attempt, connection::Status status, connection::CreatedNode node);
  void on_first_listing(const AttemptPtr& attempt, connection::Reply reply);
  void decide_when_complete(Lock& lock, const AttemptPtr& attempt);
  void list_again(const AttemptPtr& attempt);
  Verdict judge_place(const AttemptPtr& attempt, const connection::NameList& children) const;
  void act_on(Lock& lock, const AttemptPtr& attempt, const Verdict& verdict);
  void watch(Lock& lock, const AttemptPtr& attempt, const Verdict& verdict);
  void on_watch_set(const AttemptPtr& attempt, const connection::Reply& reply);
  void on_predecessor_event(const AttemptPtr& attempt, connection::WatchEvent event);
  void raise_version(Lock& lock, const AttemptPtr& attempt);
  enum class Proof { listing, deletion, quorum };
  void prove(Lock& lock, const AttemptPtr& attempt, std::int32_t version);
  void grant(Lock& lock, const AttemptPtr& attempt, Proof proof, std::int32_t version);
  void rejoin(Lock& lock, const AttemptPtr& attempt);
  void fail(Lock& lock, const AttemptPtr& attempt, std::exception_ptr error);
  void finish(Lock& lock, Outcome outcome);
  void abandon(Lock& lock, const AttemptPtr& attempt);
  bool is_current(const AttemptPtr& attempt) const { return attempt_ == attempt && done_; }
  /// Readers hold together: a count of holds would order nothing among them. Their path is persistent all the same.
  bool counts_holds() const { return spec_->options.version_token && spec_->kind != NodeKind::read; }

  const std::shared_ptr<connection::Client> client_;
  const std::shared_ptr<const QueueSpec> spec_;
  const Patience patience_;
  const Clock::time_point started_ = Clock::now();

  std::mutex mutex_;
  // All below: guarded by mutex_.
  OutcomeHandler done_;  // empty: decided, or left
  AttemptPtr attempt_;
  connection::AwaitId awaited_session_ = 0;
  std::string stale_guid_;  // of the attempt before, whose session was lost
  AcquisitionCost cost_;
  bool positioned_ = false;  // cost_.queue_position is known
};

}  // namespace zkrecipes::recipes
