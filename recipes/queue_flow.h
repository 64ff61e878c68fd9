// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "recipes/flow.h"
#include "recipes/node_name.h"
#include "recipes/queue_rule.h"
#include "zkrecipes/lock_options.h"

namespace zkrecipes::detail {

/// Which queue, and as what. Shared by the flows of a lock.
struct QueueSpec {
  std::string path;
  NodeKind kind = NodeKind::lock;
  LockOptions options{};
  std::string identity{};  ///< the data of the nodes: see data_for_people()
  /// `waits`: being first is only a step on the way (a semaphore's line), so there is no hold: the flow keeps its place
  /// until Left, and is_first() says so.
  NodeRole role = NodeRole::holds;
  std::vector<std::string> (*suspects)(const NameList& children) = nullptr;  ///< see CreateSpec
  std::string guarded{};
};

/// One place in the queue of a fair recipe.
///
/// The node is created and the queue listed in one round trip. Then the rule says whether we hold or which single node
/// to watch. When that node is deleted we list again, unless the rule said that its deletion proves our turn. After a
/// lost session, or when somebody has deleted our node, the flow joins again at the back.
///
/// A listing that shows the folder of a semaphore's leases ends it: see kLeaseFolder. Where a folder has that name, the
/// flow lists it, once its own node is there, to see whether it is a semaphore's. If it is not, a semaphore that comes
/// later finds our node.
///
/// With look-ahead the node before the predecessor is watched, still one watch. When that node is deleted, the flow
/// lists and watches the predecessor in one packet, usually while the predecessor holds. So it knows by then that it is
/// next, and the deletion of the predecessor is its turn: one round trip from release to grant. Names are unique, so it
/// does not matter which is received first, the listing that shows the predecessor alone or the news of its deletion.
///
/// A node ahead that we may not read cannot be watched: servers from 3.8.4 and 3.9.2 on also hold back the events of a
/// watch that *exists* has set. Then the whole queue is watched, which takes no permission but the one to list it.
class QueueFlow final : public Flow {
 public:
  QueueFlow(std::shared_ptr<const QueueSpec> spec, Patience patience);

  Actions on(const Event& event) override;

  bool is_first() const { return step_ == Step::first; }
  /// How many stood ahead on joining.
  int queue_position() const { return queue_position_; }

 private:
  enum class Step {
    idle,            // waits for a session
    looking,         // a try: is the queue free?
    at_leases,       // list of the folder of leases is sent: is it a semaphore's?
    joining,         // create and list are sent
    listing,         // list is sent
    watching,        // for the predecessor to leave
    looking_ahead,   // for the node before the predecessor to leave
    moving_up,       // that has left: list and watch of the predecessor are sent
    watching_queue,  // the same where the predecessor may not be read
    raising,         // the version of the path
    first,           // our turn
    over,
  };
  /// How we know that it is our turn. A listing shows our own node, too; a deletion says nothing about that.
  enum class Proof { listing, lonely_listing, deletion };

  void handle(const event::SessionReady& ready, Actions& out);
  void handle(const event::Created& created, Actions& out);
  void handle(const event::Listed& listed, Actions& out);
  void handle(const event::WatchSet& set, Actions& out);
  void handle(const event::Changed& changed, Actions& out);
  void handle(const event::VersionRaised& raised, Actions& out);
  void handle(const event::Granted&, Actions& out);
  void handle(const event::OwnNodeGone&, Actions& out) { rejoin(out); }
  void handle(const event::LeaseOver&, Actions& out) { rejoin(out); }
  void handle(const event::SessionOver&, Actions& out);
  void handle(const event::Refused& refused, Actions& out);
  void handle(const event::Left&, Actions& out) { clean_up(Step::over, out); }
  void handle(const event::Looked&, Actions&) {}          // not asked for
  void handle(const event::TimerFired&, Actions&) {}      // not asked for
  void handle(const event::PermitsChanged&, Actions&) {}  // a semaphore only

  void join(Actions& out);
  void list_again(Actions& out);
  void watch_queue(Actions& out);
  Verdict judged(const NameList& children) const;
  bool may_be_beside_semaphore() const { return spec_->role == NodeRole::holds && !leases_are_foreign_; }
  void look_at_leases(Actions& out);
  void looked_at_leases(const event::Listed& leases, Actions& out);
  void refuse_path(std::exception_ptr why, Actions& out);
  void act_on(const Verdict& verdict, std::int32_t parent_version, Actions& out);
  void watch(const std::string& node, Actions& out);
  void move_up(Actions& out);
  void moved_up(const event::Listed& listed, Actions& out);
  void watched_node_event(WatchEvent what, Proof proof, Actions& out);
  void take_turn(Proof proof, std::int32_t version, Actions& out);
  void rejoin(Actions& out);
  void clean_up(Step next, Actions& out);
  bool in_attempt() const { return step_ != Step::idle && step_ != Step::over; }
  /// Where holds are counted, each grant needs a listing for the count.
  bool can_be_proven_by_deletion() const { return !spec_->options.version_token; }
  /// Readers hold together: a count of holds would order nothing among them. Their path is persistent all the same.
  bool counts_holds() const { return spec_->options.version_token && spec_->kind != NodeKind::read; }

  std::shared_ptr<const QueueSpec> spec_;
  Patience patience_;

  Step step_ = Step::idle;
  std::string guid_;
  std::string stale_guid_;  // of the attempt before, whose session was lost
  std::string node_;        // full path; empty until created
  std::int64_t czxid_ = 0;
  bool watching_ = false;
  bool probing_ = false;
  bool proof_by_deletion_ = false;   // of the node that is watched
  std::string predecessor_;          // its name, while looking ahead and moving up
  bool predecessor_left_ = false;    // while moving up
  bool leases_are_foreign_ = false;  // the folder of that name, as seen since our node is there
  bool listed_early_ = false;        // the listing that was sent with the create was answered before it
  NameList early_children_;
  std::int32_t early_version_ = 0;
  int queue_position_ = -1;  // not known yet
};

}  // namespace zkrecipes::detail
