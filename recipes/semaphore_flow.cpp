// SPDX-License-Identifier: Apache-2.0
#include "recipes/semaphore_flow.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "recipes/lock_error.h"

namespace zkrecipes::detail {

namespace {

// How long a try stands in a line that does not move.
constexpr std::chrono::seconds kPatienceOfATry{2};
// How soon it looks again for the node of the leases, which cannot be watched while it is missing: nobody has taken a
// permit yet, or the server has removed the container because none was in use.
constexpr std::chrono::milliseconds kLookAgain{50};
// Timers that expect progress are numbered by the movements that were seen when they were started.
constexpr int kLookAgainTimer = -1;

template <class Wanted>
bool ends_with(const Actions& actions) {
  return !actions.empty() && std::holds_alternative<Wanted>(actions.back());
}

void append(Actions&& from, Actions& to) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
}

/// In the line there is nothing to count and no hold to revoke.
LockOptions options_of_line(const LockOptions& options) {
  LockOptions result;
  result.acl = options.acl;
  result.look_ahead = options.look_ahead;
  return result;
}

}  // namespace

SemaphoreSpec::SemaphoreSpec(const std::string& lock_path, LockOptions lock_options, const std::string& client_identity)
    : path(lock_path),
      leases(join(lock_path, kLeaseFolder)),
      line(std::make_shared<const QueueSpec>(QueueSpec{join(lock_path, "locks"), NodeKind::lock,
                                                       options_of_line(lock_options), client_identity, NodeRole::waits,
                                                       queue_nodes_without_semaphore, lock_path})),
      options(std::move(lock_options)),
      identity(client_identity) {}

SemaphoreFlow::SemaphoreFlow(std::shared_ptr<const SemaphoreSpec> spec, Patience patience, const PermitDemand& demand)
    : spec_(std::move(spec)),
      patience_(patience),
      wanted_(demand.wanted),
      permits_(demand.permits),
      line_(spec_->line, patience) {}

Actions SemaphoreFlow::on(const Event& event) {
  Actions out;
  std::visit([&](const auto& happened) { handle(happened, out); }, event);
  return out;
}

void SemaphoreFlow::handle(const event::SessionReady& ready, Actions& out) {
  if (step_ != Step::idle) return;
  guid_ = ready.guid;
  if (patience_ == Patience::queue) {
    step_ = Step::in_line;
    follow_line(ready, out);
  } else if (busy_line_) {
    step_ = Step::standing;
    watch_leases(out);
  } else {
    step_ = Step::looking;
    out.emplace_back(action::List{Topic::leases, spec_->leases});
  }
}

void SemaphoreFlow::handle(const event::Listed& listed, Actions& out) {
  if (listed.topic == Topic::line) return follow_line(listed, out);
  if (listed.topic == Topic::path) return looked_around(listed, out);
  if (listed.watched && listed.status != Status::ok) watching_ = false;
  if (!listed.watched) counting_ = false;
  if (step_ == Step::looking) {
    if (too_few_left(listed)) return not_served(out);
    step_ = Step::in_line;
    follow_line(event::SessionReady{guid_}, out);
  } else if (waits_in_busy_line()) {
    seen_from_the_line(listed, out);
  } else if (step_ == Step::at_head) {
    seen_from_the_head(listed, out);
  }
}

void SemaphoreFlow::handle(const event::Changed& changed, Actions& out) {
  if (changed.topic == Topic::line) return follow_line(changed, out);
  watching_ = false;
  if (waits_in_busy_line() || step_ == Step::at_head) watch_leases(out);
}

void SemaphoreFlow::watch_leases(Actions& out) {
  watching_ = true;
  out.emplace_back(action::WatchChildren{Topic::leases, spec_->leases});
}

// ---- In line ----

/// Passes an event to the line, and acts on what the line makes of it.
void SemaphoreFlow::follow_line(const Event& event, Actions& out) {
  if (step_ != Step::in_line) return;
  Actions todo = line_.on(event);
  if (ends_with<action::NotServed>(todo)) {
    // A try, and there are others in line. Begin again, to stand behind them.
    todo.pop_back();
    todo.emplace_back(action::AwaitSession{});
    busy_line_ = true;
    line_ = QueueFlow(spec_->line, Patience::queue);
  }
  if (ends_with<action::AwaitSession>(todo) || ends_with<action::Fail>(todo)) {
    step_ = ends_with<action::Fail>(todo) ? Step::over : Step::idle;
    give_leases_back(out);
  }
  append(std::move(todo), out);
  if (line_.is_first()) create_leases(out);
}

/// For a try that has found others in line. Each contender ahead adds leases when it is served. One that is dead, or
/// that counts fewer permits than we do, adds none, and a try does not wait for it.
void SemaphoreFlow::seen_from_the_line(const event::Listed& leases, Actions& out) {
  if (too_few_left(leases)) return not_served(out);
  const bool missing = leases.status == Status::no_node;
  const bool joins = step_ == Step::standing;
  if (missing)
    out.emplace_back(action::Timer{kLookAgainTimer, kLookAgain});
  else
    ++movements_;
  if (joins || !missing) out.emplace_back(action::Timer{movements_, kPatienceOfATry});
  if (!joins) return;
  step_ = Step::in_line;
  follow_line(event::SessionReady{guid_}, out);
}

void SemaphoreFlow::handle(const event::TimerFired& timer, Actions& out) {
  if (!waits_in_busy_line()) return;
  if (timer.id == kLookAgainTimer) {
    if (!watching_) watch_leases(out);
  } else if (timer.id == movements_) {
    not_served(out);
  }
}

// ---- At the head of the line ----

/// All in one round trip with the listing. The listing sets no watch, which would have to be taken back when there are
/// enough permits.
///
/// Only the first lease may make the folder. If each could, one might be refused because of another lock while the next
/// one, which looked earlier or later, makes the folder and leaves it behind.
void SemaphoreFlow::create_leases(Actions& out) {
  step_ = Step::at_head;
  counted_too_early_ = false;
  looked_around_ = false;
  made_leases_folder_ = false;
  lacking_folder_ = 0;
  folder_was_missing_ = false;
  said_to_wait_ = false;
  if (std::exchange(watching_, false)) out.emplace_back(action::Unwatch{Topic::leases});
  for (int i = 0; i < wanted_; ++i) create_lease(i, out);
  count_leases(out);
}

void SemaphoreFlow::create_lease(int number, Actions& out) {
  CreateSpec create;
  create.parent = spec_->leases;
  create.guid = nth_guid(guid_, number);
  create.name = protected_name(create.guid, NodeKind::lease);
  create.data = spec_->identity;
  create.acl = acl_of(spec_);
  create.suspects = queue_nodes_without_semaphore;
  create.guarded = spec_->path;
  create.needs_parent = number != 0;
  out.emplace_back(action::Create{Topic::leases, std::move(create)});
}

/// Those that lacked the folder, which the first lease has made since.
void SemaphoreFlow::create_missing_leases(Actions& out) {
  lacking_folder_ = 0;
  folder_was_missing_ = true;
  for (int i = 1; i < wanted_; ++i) {
    const std::string guid = nth_guid(guid_, i);
    const auto has_guid = [&](const Lease& lease) { return is_protected_by(name_of(lease.path), guid); };
    if (std::none_of(leases_.begin(), leases_.end(), has_guid)) create_lease(i, out);
  }
  if (std::exchange(counted_too_early_, false)) count_leases(out);
}

void SemaphoreFlow::count_leases(Actions& out) {
  counting_ = true;
  out.emplace_back(action::List{Topic::leases, spec_->leases});
}

void SemaphoreFlow::handle(const event::Created& created, Actions& out) {
  if (created.status == Status::occupied) return refuse_path(created.node.path, out);
  if (created.topic == Topic::line) return follow_line(created, out);
  if (step_ != Step::at_head || has_its_leases()) return;
  if (created.status == Status::no_parent) {
    // The folder has vanished although our first lease was in it.
    if (folder_was_missing_) return start_again(event::OwnNodeGone{}, out);
    ++lacking_folder_;
  } else if (created.status != Status::ok) {
    return handle(event::Refused{created.status, Topic::leases}, out);
  } else {
    made_leases_folder_ = made_leases_folder_ || created.node.made_parent;
    leases_.push_back({created.node.path, created.node.stat.czxid});
  }
  // All are answered, and so the first one, which never lacks the folder, is there.
  if (lacking_folder_ > 0 && leases_.size() + lacking_folder_ == static_cast<std::size_t>(wanted_))
    return create_missing_leases(out);
  if (!has_its_leases()) return;
  std::sort(leases_.begin(), leases_.end(), [](const Lease& a, const Lease& b) { return a.path < b.path; });
  if (std::exchange(counted_too_early_, false)) count_leases(out);
}

void SemaphoreFlow::seen_from_the_head(const event::Listed& leases, Actions& out) {
  if (!has_its_leases()) {
    counted_too_early_ = true;  // the answer to a create was lost, and the lease is being looked for
    return;
  }
  const bool listed = shows_all_of_ours(leases.children);
  if (leases.watched && !listed) return start_again(event::OwnNodeGone{}, out);
  if (listed && fits(leases.children.size())) {
    if (!is_ours_alone(leases)) return look_around(leases.stat, out);
    if (is_marked(leases.stat) && !is_mark_confirmed(leases.stat)) mark(leases.stat.version, out);
    return make_hold(out);
  }
  if (listed && patience_ == Patience::try_once) return not_served(out);
  if (watching_) return;
  watch_leases(out);
  // Once: the watch may have fired while the path was being looked at.
  if (listed && !std::exchange(said_to_wait_, true)) out.emplace_back(action::Wait{0});
}

/// Locks with a queue respect the folder once it is marked, so nobody has to look again for as long as it exists.
bool SemaphoreFlow::is_ours_alone(const event::Listed& leases) const {
  return is_mark_confirmed(leases.stat) || looked_around_;
}

void SemaphoreFlow::mark(std::int32_t expected, Actions& out) const {
  out.emplace_back(action::Mark{spec_->leases, std::string(kLeaseFolderMark), expected});
}

void SemaphoreFlow::look_around(const NodeStat& lease_folder, Actions& out) {
  suspect_left_ = false;
  may_be_marked_ = lease_folder.data_length == 0;
  step_ = Step::looking_around;
  out.emplace_back(action::List{Topic::path, spec_->path});
}

void SemaphoreFlow::looked_around(const event::Listed& path, Actions& out) {
  if (step_ != Step::looking_around) return;
  suspects_ = queue_nodes(path.children);
  examine_suspect(out);
}

void SemaphoreFlow::examine_suspect(Actions& out) {
  if (!suspects_.empty()) {
    out.emplace_back(action::Look{join(spec_->path, suspects_.back())});
    return;
  }
  // A writer that has downgraded meanwhile has left a read node in its place, which the listing did not show.
  if (std::exchange(suspect_left_, false)) {
    out.emplace_back(action::List{Topic::path, spec_->path});
    return;
  }
  looked_around_ = true;
  step_ = Step::at_head;
  // Data of others are not overwritten. Then everybody looks, each time.
  if (may_be_marked_) mark(0, out);
  count_leases(out);  // the number of permits may have changed meanwhile
}

void SemaphoreFlow::handle(const event::Looked& looked, Actions& out) {
  if (step_ != Step::looking_around || suspects_.empty()) return;
  if (looked.there && looked.stat.is_ephemeral()) return refuse_path(join(spec_->path, suspects_.back()), out);
  suspect_left_ = suspect_left_ || !looked.there;
  suspects_.pop_back();
  examine_suspect(out);
}

/// Our own folder of the leases is removed, too, unless others use it: it would keep the users of the other lock from
/// theirs. A folder that somebody else has made is not ours to delete. The folder of the line is in nobody's way, and
/// the server removes it.
void SemaphoreFlow::refuse_path(const std::string& occupant, Actions& out) {
  if (step_ == Step::over) return;
  step_ = Step::over;
  give_leases_back(out);
  if (made_leases_folder_) out.emplace_back(action::Remove{spec_->leases});
  append(line_.on(event::Left{}), out);
  out.emplace_back(action::Fail{Status::occupied, spec_->path, occupied_error(spec_->path, occupant)});
}

bool SemaphoreFlow::shows_all_of_ours(const NameList& children) const {
  const auto is_ours = [this](std::string_view child) {
    const auto at =
        std::lower_bound(leases_.begin(), leases_.end(), child,
                         [](const Lease& lease, std::string_view name) { return name_of(lease.path) < name; });
    return at != leases_.end() && name_of(at->path) == child;
  };
  return std::count_if(children.begin(), children.end(), is_ours) == static_cast<std::ptrdiff_t>(leases_.size());
}

/// The oldest lease stands for all of them. A contender that is served later has created all of its leases later: it
/// was not at the head of the line before. So tokens grow in the order of grants.
void SemaphoreFlow::make_hold(Actions& out) {
  step_ = Step::first;
  const auto oldest = std::min_element(leases_.begin(), leases_.end(),
                                       [](const Lease& a, const Lease& b) { return a.czxid < b.czxid; });
  action::MakeHold hold;
  hold.topic = Topic::leases;
  hold.grant.node = oldest->path;
  for (const Lease& lease : leases_)
    if (lease.path != oldest->path) hold.grant.more_nodes.push_back(lease.path);
  hold.grant.kind = NodeKind::lease;
  hold.grant.token = {oldest->czxid, 0};
  hold.grant.cost.queue_position = line_.queue_position();
  hold.grant.on_revoke = spec_->options.on_revoke;
  out.emplace_back(std::move(hold));
}

/// A grant that is already decided is not taken back.
void SemaphoreFlow::handle(const event::PermitsChanged& changed, Actions& out) {
  permits_ = changed.permits;
  if (step_ == Step::first || step_ == Step::over) return;
  if (wanted_ > permits_) return never_served(out);
  // The answer of a count that is under way is compared with the new number.
  if (step_ == Step::at_head && has_its_leases() && !counting_) count_leases(out);
}

// ---- The end ----

void SemaphoreFlow::handle(const event::Granted&, Actions& out) {
  if (step_ != Step::first) return;
  leases_.clear();  // the hold's from now on
  clean_up(Step::over, out);
}

void SemaphoreFlow::handle(const event::OwnNodeGone& gone, Actions& out) {
  if (step_ == Step::in_line) return follow_line(gone, out);
  start_again(gone, out);
}

void SemaphoreFlow::handle(const event::SessionOver& over, Actions& out) {
  leases_.clear();
  start_again(over, out);
}

void SemaphoreFlow::handle(const event::Refused& refused, Actions& out) {
  if (step_ == Step::over) return;
  if (step_ == Step::in_line && refused.topic == Topic::line) return follow_line(refused, out);
  const std::string& path = refused.topic == Topic::line ? spec_->line->path : spec_->path;
  clean_up(Step::over, out);
  out.emplace_back(action::Fail{refused.status, path, nullptr});
}

/// `why` also tells the line how to leave its place.
void SemaphoreFlow::start_again(const Event& why, Actions& out) {
  if (step_ == Step::idle || step_ == Step::over) return;
  give_leases_back(out);
  Actions left = line_.on(why);
  // What comes after leaving is decided here.
  if (ends_with<action::AwaitSession>(left) || ends_with<action::NotServed>(left)) left.pop_back();
  append(std::move(left), out);
  if (patience_ == Patience::try_once) return not_served(out);
  if (wanted_ > permits_) return never_served(out);
  step_ = Step::idle;
  out.emplace_back(action::AwaitSession{});
}

void SemaphoreFlow::not_served(Actions& out) {
  clean_up(Step::over, out);
  out.emplace_back(action::NotServed{});
}

/// Waiting would not end before the number of permits is raised again, which perhaps nobody does.
void SemaphoreFlow::never_served(Actions& out) {
  clean_up(Step::over, out);
  out.emplace_back(action::Fail{Status::rejected, spec_->path, permits_error(spec_->path, wanted_, permits_)});
}

void SemaphoreFlow::give_leases_back(Actions& out) {
  if (std::exchange(watching_, false)) out.emplace_back(action::Unwatch{Topic::leases});
  for (Lease& lease : leases_) out.emplace_back(action::Remove{std::move(lease.path)});
  leases_.clear();
}

void SemaphoreFlow::clean_up(Step next, Actions& out) {
  step_ = next;
  give_leases_back(out);
  append(line_.on(event::Left{}), out);
}

}  // namespace zkrecipes::detail
