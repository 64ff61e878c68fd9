// SPDX-License-Identifier: Apache-2.0
#include "recipes/queue_flow.h"

#include <utility>

#include "recipes/lock_error.h"

namespace zkrecipes::detail {

QueueFlow::QueueFlow(std::shared_ptr<const QueueSpec> spec, Patience patience)
    : spec_(std::move(spec)), patience_(patience) {}

Actions QueueFlow::on(const Event& event) {
  Actions out;
  std::visit([&](const auto& happened) { handle(happened, out); }, event);
  return out;
}

// ---- Joining ----

void QueueFlow::handle(const event::SessionReady& ready, Actions& out) {
  if (step_ != Step::idle) return;
  guid_ = ready.guid;
  if (patience_ == Patience::queue) return join(out);
  step_ = Step::looking;
  out.emplace_back(action::List{Topic::line, spec_->path});
}

void QueueFlow::join(Actions& out) {
  step_ = Step::joining;
  listed_early_ = false;
  leases_are_foreign_ = false;
  CreateSpec create;
  create.parent = spec_->path;
  create.name = protected_name(guid_, spec_->kind);
  create.guid = guid_;
  create.data = spec_->identity;
  create.acl = acl_of(spec_);
  if (spec_->options.version_token) create.parent_mode = CreateMode::persistent;
  create.stale_guid = std::exchange(stale_guid_, {});
  create.suspects = spec_->suspects;
  create.guarded = spec_->guarded;
  out.emplace_back(action::Create{Topic::line, std::move(create)});
  // In the same round trip: answers come in order, so the listing shows the new node.
  out.emplace_back(action::List{Topic::line, spec_->path});
}

void QueueFlow::handle(const event::Created& created, Actions& out) {
  if (step_ != Step::joining || !node_.empty()) return;
  if (created.status != Status::ok) return handle(event::Refused{created.status}, out);
  node_ = created.node.path;
  czxid_ = created.node.stat.czxid;
  if (!listed_early_) return;
  const Verdict verdict = judged(std::exchange(early_children_, {}));
  if (verdict.kind == Verdict::Kind::gone) return list_again(out);
  act_on(verdict, early_version_, out);
}

void QueueFlow::handle(const event::Listed& listed, Actions& out) {
  if (listed.topic == Topic::leases) return looked_at_leases(listed, out);
  switch (step_) {
    case Step::looking:
      if (may_be_beside_semaphore() && listed.children.contains(kLeaseFolder)) return look_at_leases(out);
      if (!would_wait(listed.children, spec_->kind)) return join(out);
      clean_up(Step::over, out);
      out.emplace_back(action::NotServed{});
      return;
    case Step::joining: {
      if (node_.empty()) {
        // The answer to the create was lost, or parents had to be made first.
        listed_early_ = true;
        early_children_ = listed.children;
        early_version_ = listed.stat.version;
        return;
      }
      const Verdict verdict = judged(listed.children);
      if (verdict.kind == Verdict::Kind::gone) return list_again(out);
      return act_on(verdict, listed.stat.version, out);
    }
    case Step::listing:
      if (listed.status == Status::no_node) return rejoin(out);
      return act_on(judged(listed.children), listed.stat.version, out);
    case Step::moving_up:
      return moved_up(listed, out);
    case Step::watching_queue: {
      if (!listed.watched) return;
      if (listed.status == Status::no_node) {
        watching_ = false;
        return rejoin(out);
      }
      const Verdict verdict = judged(listed.children);
      if (verdict.kind == Verdict::Kind::waits) return;
      if (std::exchange(watching_, false)) out.emplace_back(action::Unwatch{Topic::line});
      return act_on(verdict, listed.stat.version, out);
    }
    default:
      return;
  }
}

void QueueFlow::list_again(Actions& out) {
  step_ = Step::listing;
  out.emplace_back(action::List{Topic::line, spec_->path});
}

void QueueFlow::watch_queue(Actions& out) {
  step_ = Step::watching_queue;
  watching_ = true;
  out.emplace_back(action::WatchChildren{Topic::line, spec_->path});
}

// ---- Waiting ----

Verdict QueueFlow::judged(const NameList& children) const {
  return judge(children, name_of(node_), spec_->kind, guid_);
}

void QueueFlow::act_on(const Verdict& verdict, std::int32_t parent_version, Actions& out) {
  for (const std::string& stray : verdict.strays)
    out.emplace_back(action::Remove{detail::join(spec_->path, stray), 0, true});
  if (may_be_beside_semaphore() && verdict.beside_lease_folder) return look_at_leases(out);
  if (queue_position_ < 0) queue_position_ = verdict.ahead;
  switch (verdict.kind) {
    case Verdict::Kind::holds:
      if (!counts_holds()) return take_turn(verdict.alone ? Proof::lonely_listing : Proof::listing, 0, out);
      step_ = Step::raising;
      // Expects the version of the listing that shows us first: a contender that was overtaken since cannot raise it.
      out.emplace_back(action::RaiseVersion{spec_->path, guid_, parent_version});
      return;
    case Verdict::Kind::waits:
      if (patience_ == Patience::try_once) {
        clean_up(Step::over, out);
        out.emplace_back(action::NotServed{});
        return;
      }
      if (spec_->options.look_ahead && can_be_proven_by_deletion() && !verdict.look_past.empty()) {
        step_ = Step::looking_ahead;
        predecessor_ = verdict.watch;
        watch(verdict.look_past, out);
      } else {
        step_ = Step::watching;
        proof_by_deletion_ = verdict.proof_by_deletion;
        watch(verdict.watch, out);
      }
      if (std::exchange(probing_, true)) return;
      out.emplace_back(action::Probe{node_});
      out.emplace_back(action::Wait{verdict.ahead});
      return;
    case Verdict::Kind::gone:
      return rejoin(out);
    case Verdict::Kind::overflow:
      clean_up(Step::over, out);
      out.emplace_back(action::Fail{Status::rejected, spec_->path, sequence_error(spec_->path)});
      return;
  }
}

void QueueFlow::look_at_leases(Actions& out) {
  step_ = Step::at_leases;
  out.emplace_back(action::List{Topic::leases, detail::join(spec_->path, kLeaseFolder)});
}

void QueueFlow::looked_at_leases(const event::Listed& leases, Actions& out) {
  if (step_ != Step::at_leases) return;
  if (leases.status == Status::ok && is_semaphores(leases.children, leases.stat))
    return refuse_path(semaphore_error(spec_->path), out);
  leases_are_foreign_ = leases.status == Status::ok;
  list_again(out);
  if (node_.empty()) step_ = Step::looking;  // a try that has not joined
}

/// Also when a semaphore comes later: until then our node has kept it from coming, unless it is that of another
/// library.
void QueueFlow::refuse_path(std::exception_ptr why, Actions& out) {
  clean_up(Step::over, out);
  out.emplace_back(action::Fail{Status::rejected, spec_->path, std::move(why)});
}

void QueueFlow::watch(const std::string& node, Actions& out) {
  watching_ = true;
  out.emplace_back(action::WatchNode{detail::join(spec_->path, node)});
}

void QueueFlow::handle(const event::WatchSet& set, Actions& out) {
  // It was deleted between listing and watching: as good as its event, and the listing is still fresh.
  if (set.status != Status::ok) watched_node_event(WatchEvent::deleted, Proof::listing, out);
}

void QueueFlow::handle(const event::Changed& changed, Actions& out) {
  if (step_ == Step::watching_queue) return watch_queue(out);
  watched_node_event(changed.what, Proof::deletion, out);
}

/// `proof`: of our turn, if the node was the only one ahead.
void QueueFlow::watched_node_event(WatchEvent what, Proof proof, Actions& out) {
  const bool deleted = what == WatchEvent::deleted;
  switch (step_) {
    case Step::watching:
      watching_ = false;
      if (deleted && proof_by_deletion_ && can_be_proven_by_deletion()) return take_turn(proof, 0, out);
      return list_again(out);
    case Step::looking_ahead:
      watching_ = false;
      return deleted ? move_up(out) : list_again(out);
    case Step::moving_up:  // the listing, which is on its way, tells what it means
      watching_ = false;
      predecessor_left_ = deleted;
      return;
    default:
      return;
  }
}

/// The node before the predecessor has left. It may have given up, with others still ahead of it, so we list.
void QueueFlow::move_up(Actions& out) {
  step_ = Step::moving_up;
  predecessor_left_ = false;
  out.emplace_back(action::List{Topic::line, spec_->path});
  watch(predecessor_, out);
}

void QueueFlow::moved_up(const event::Listed& listed, Actions& out) {
  if (listed.status == Status::no_node) return rejoin(out);
  const Verdict verdict = judged(listed.children);
  const bool is_next =
      verdict.kind == Verdict::Kind::waits && verdict.proof_by_deletion && verdict.watch == predecessor_;
  if (is_next && predecessor_left_) return take_turn(Proof::listing, 0, out);
  if (is_next && watching_) {
    step_ = Step::watching;
    proof_by_deletion_ = true;
    return;
  }
  if (std::exchange(watching_, false)) out.emplace_back(action::Unwatch{Topic::line});
  act_on(verdict, listed.stat.version, out);
}

// ---- The end ----

void QueueFlow::handle(const event::VersionRaised& raised, Actions& out) {
  if (step_ != Step::raising) return;
  if (raised.status == Status::ok) return take_turn(Proof::listing, raised.version, out);
  list_again(out);
}

void QueueFlow::take_turn(Proof proof, std::int32_t version, Actions& out) {
  step_ = Step::first;
  if (spec_->role == NodeRole::waits) {
    if (!std::exchange(probing_, true)) out.emplace_back(action::Probe{node_});
    return;
  }
  action::MakeHold hold;
  hold.grant.node = node_;
  hold.grant.kind = spec_->kind;
  hold.grant.token = {czxid_, version};
  hold.grant.cost.queue_position = queue_position_;
  hold.grant.on_revoke = spec_->options.on_revoke;
  hold.check_node = proof == Proof::deletion;
  hold.alone = proof == Proof::lonely_listing;
  out.emplace_back(std::move(hold));
}

void QueueFlow::handle(const event::Granted&, Actions& out) {
  if (step_ != Step::first || spec_->role == NodeRole::waits) return;
  node_.clear();  // the hold's from now on
  clean_up(Step::over, out);
}

void QueueFlow::handle(const event::SessionOver&, Actions& out) {
  if (!in_attempt()) return;
  // What is left of this attempt is removed by the next one, if the end of the session does not do it first.
  stale_guid_ = guid_;
  node_.clear();
  rejoin(out);
}

void QueueFlow::handle(const event::Refused& refused, Actions& out) {
  if (step_ == Step::over) return;
  if (step_ == Step::at_leases && refused.status == Status::not_authorized)
    return refuse_path(hidden_folder_error(spec_->path), out);
  const bool watches_a_node = step_ == Step::watching || step_ == Step::looking_ahead || step_ == Step::moving_up;
  if (watches_a_node && refused.status == Status::not_authorized) {
    out.emplace_back(action::Unwatch{Topic::line});
    return watch_queue(out);
  }
  clean_up(Step::over, out);
  out.emplace_back(action::Fail{refused.status, spec_->path, nullptr});
}

void QueueFlow::rejoin(Actions& out) {
  if (!in_attempt()) return;
  const bool again = patience_ == Patience::queue;
  clean_up(again ? Step::idle : Step::over, out);
  if (again)
    out.emplace_back(action::AwaitSession{});
  else
    out.emplace_back(action::NotServed{});
}

void QueueFlow::clean_up(Step next, Actions& out) {
  step_ = next;
  if (std::exchange(watching_, false)) out.emplace_back(action::Unwatch{Topic::line});
  if (std::exchange(probing_, false)) out.emplace_back(action::Unprobe{});
  if (!node_.empty()) out.emplace_back(action::Remove{std::exchange(node_, {})});
}

}  // namespace zkrecipes::detail
