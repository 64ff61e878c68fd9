// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "recipes/flow.h"
#include "recipes/queue_flow.h"
#include "zkrecipes/lock_options.h"

namespace zkrecipes::detail {

/// Shared by the flows of a semaphore.
struct SemaphoreSpec {
  SemaphoreSpec(const std::string& lock_path, LockOptions lock_options, const std::string& client_identity);

  const std::string path;
  const std::string leases;
  const std::shared_ptr<const QueueSpec> line;
  const LockOptions options;
  const std::string identity;  ///< the data of the leases: see data_for_people()
};

/// How many permits an acquire wants, and how many there are when it begins.
struct PermitDemand {
  int wanted = 1;
  int permits = 1;
};

/// One attempt to get some permits at once: stand in the line under "locks"; at its head, create a lease for each
/// permit under "leases" and wait until there are no more leases than permits. The place in line is given back with the
/// outcome, so only one contender at a time has leases without a hold, and contenders that want many cannot block each
/// other. Only the head of the line watches the leases. The place in line and the first lease have the same guid; they
/// have different parents.
///
/// A try is not served when there are not enough permits. A line that is not empty does not mean that: contenders stand
/// there for a moment while they are being served. So the try then joins the line, and watches the leases until its
/// turn: it ends as soon as the leases leave too few permits, or when nothing has moved for a while.
///
/// A FairMutex or a ReadWriteLock at the same path would not see the leases, nor would they see it, and both would
/// hold. So the flow looks at the children of the path before it makes missing folders, and again at the head of the
/// line until the folder of the leases is marked. If there is a queue it ends, and leaves nothing that is in the
/// way of that queue. Where the folders exist and are marked, which is the usual case, this takes no request.
///
/// A lost session loses the place in line and the leases together, so the flow rejoins at the back. So it does when
/// somebody has deleted one of them.
class SemaphoreFlow final : public Flow {
 public:
  SemaphoreFlow(std::shared_ptr<const SemaphoreSpec> spec, Patience patience, const PermitDemand& demand);

  Actions on(const Event& event) override;

 private:
  enum class Step {
    idle,      // waits for a session
    looking,   // a try: are there permits?
    standing,  // a try behind others: watches the leases before it joins the line
    in_line,
    at_head,         // has, or is about to have, its leases
    looking_around,  // there are enough permits; is there a queue of another kind of lock?
    first,           // there are enough permits
    over,
  };

  void handle(const event::SessionReady& ready, Actions& out);
  void handle(const event::Created& created, Actions& out);
  void handle(const event::Listed& listed, Actions& out);
  void handle(const event::Changed& changed, Actions& out);
  void handle(const event::TimerFired& timer, Actions& out);
  void handle(const event::PermitsChanged& changed, Actions& out);
  void handle(const event::Looked& looked, Actions& out);
  void handle(const event::Granted&, Actions& out);
  void handle(const event::OwnNodeGone& gone, Actions& out);
  void handle(const event::LeaseOver& over, Actions& out) { start_again(over, out); }
  void handle(const event::SessionOver& over, Actions& out);
  void handle(const event::Refused& refused, Actions& out);
  void handle(const event::Left&, Actions& out) { clean_up(Step::over, out); }
  void handle(const event::WatchSet& set, Actions& out) { follow_line(set, out); }
  void handle(const event::VersionRaised&, Actions&) {}  // not asked for

  void follow_line(const Event& event, Actions& out);
  void watch_leases(Actions& out);
  void seen_from_the_line(const event::Listed& leases, Actions& out);
  void seen_from_the_head(const event::Listed& leases, Actions& out);
  void create_leases(Actions& out);
  void create_lease(int number, Actions& out);
  void create_missing_leases(Actions& out);
  void count_leases(Actions& out);
  bool is_ours_alone(const event::Listed& leases) const;
  void mark(std::int32_t expected, Actions& out) const;
  void look_around(const NodeStat& lease_folder, Actions& out);
  void looked_around(const event::Listed& path, Actions& out);
  void examine_suspect(Actions& out);
  void refuse_path(const std::string& occupant, Actions& out);
  bool shows_all_of_ours(const NameList& children) const;
  void make_hold(Actions& out);
  void start_again(const Event& why, Actions& out);
  void not_served(Actions& out);
  void never_served(Actions& out);
  void give_leases_back(Actions& out);
  void clean_up(Step next, Actions& out);
  bool fits(std::size_t leases) const { return leases <= static_cast<std::size_t>(permits_); }
  bool too_few_left(const event::Listed& leases) const {
    return !fits(leases.children.size() + static_cast<std::size_t>(wanted_));
  }
  bool has_its_leases() const { return leases_.size() == static_cast<std::size_t>(wanted_); }
  bool waits_in_busy_line() const { return busy_line_ && (step_ == Step::standing || step_ == Step::in_line); }

  std::shared_ptr<const SemaphoreSpec> spec_;
  Patience patience_;
  int wanted_;
  int permits_;

  Step step_ = Step::idle;
  QueueFlow line_;
  std::string guid_;
  struct Lease {
    std::string path;
    std::int64_t czxid = 0;
  };
  std::vector<Lease> leases_;          // ours; sorted by path when all are created
  bool counted_too_early_ = false;     // the leases were listed before all of ours were known
  bool looked_around_ = false;         // and there was no queue of another kind of lock
  std::vector<std::string> suspects_;  // while looking around: children that look like another lock's nodes
  bool suspect_left_ = false;          // one of them was gone when it was looked at
  bool may_be_marked_ = false;         // the folder of the leases, while looking around: it has no data
  bool made_leases_folder_ = false;    // in this attempt
  std::size_t lacking_folder_ = 0;     // leases that were answered by no_parent and not sent again yet
  bool folder_was_missing_ = false;    // such leases were sent again
  bool counting_ = false;              // a listing of the leases, without a watch, is on its way
  bool watching_ = false;              // the leases
  bool said_to_wait_ = false;          // at the head
  bool busy_line_ = false;             // a try that stands behind others that are being served
  int movements_ = 0;                  // seen from the line
};

}  // namespace zkrecipes::detail
