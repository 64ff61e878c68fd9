// SPDX-License-Identifier: Apache-2.0
#include "recipes/simple_flow.h"

#include <utility>

#include "recipes/node_data.h"
#include "zkrecipes/error.h"

namespace zkrecipes::detail {

SimpleFlow::SimpleFlow(std::shared_ptr<const SimpleSpec> spec, Patience patience)
    : spec_(std::move(spec)), patience_(patience) {}

Actions SimpleFlow::on(const Event& event) {
  Actions out;
  std::visit([&](const auto& happened) { handle(happened, out); }, event);
  return out;
}

void SimpleFlow::handle(const event::SessionReady& ready, Actions& out) {
  if (step_ != Step::idle) return;
  guid_ = ready.guid;
  if (patience_ == Patience::queue) return race(out);
  step_ = Step::looking;
  out.emplace_back(action::Look{spec_->path});
}

void SimpleFlow::handle(const event::Looked& looked, Actions& out) {
  if (step_ != Step::looking && step_ != Step::looking_at_holder) return;
  if (!looked.there) return race(out);
  if (!looked.stat.is_ephemeral()) return refuse_data_node(out);
  if (step_ == Step::looking) return not_served(out);
  watch_parent(out);
}

void SimpleFlow::race(Actions& out) {
  step_ = Step::racing;
  CreateSpec create;
  create.parent = parent_of(spec_->path);
  create.name = name_of(spec_->path);
  create.guid = guid_;
  create.guid_place = GuidPlace::in_data;
  create.mode = CreateMode::ephemeral;
  create.data = data_with_guid(spec_->identity, guid_);
  create.acl = acl_of(spec_);
  out.emplace_back(action::Create{Topic::line, std::move(create)});
}

void SimpleFlow::handle(const event::Created& created, Actions& out) {
  if (step_ != Step::racing) return;
  if (created.status == Status::node_exists) {
    if (patience_ == Patience::try_once) return not_served(out);
    if (!std::exchange(positioned_, true)) queue_position_ = 1;
    step_ = Step::watching;
    watching_ = true;
    out.emplace_back(action::WatchNode{spec_->path});
    if (!std::exchange(said_wait_, true)) out.emplace_back(action::Wait{1});
    return;
  }
  if (created.status != Status::ok) return handle(event::Refused{created.status}, out);
  step_ = Step::first;
  positioned_ = true;
  czxid_ = created.node.stat.czxid;
  action::MakeHold hold;
  hold.grant.node = created.node.path;
  hold.grant.shared_czxid = czxid_;
  hold.grant.token = {czxid_, 0};
  hold.grant.cost.queue_position = queue_position_;
  hold.grant.on_revoke = spec_->options.on_revoke;
  out.emplace_back(std::move(hold));
}

void SimpleFlow::handle(const event::WatchSet& set, Actions& out) {
  if (step_ != Step::watching) return;
  if (set.status == Status::no_node) {
    watching_ = false;
    return race(out);
  }
  if (!set.stat.is_ephemeral()) refuse_data_node(out);
}

void SimpleFlow::refuse_data_node(Actions& out) {
  clean_up(Step::over, out);
  out.emplace_back(
      action::Fail{Status::rejected, spec_->path,
                   std::make_exception_ptr(Error(
                       ErrorCode::unusable_path,
                       "lock " + spec_->path +
                           ": there is a node at this path that is not ephemeral, so it is no SimpleLock: it is the "
                           "folder of another lock (FairMutex, ReadWriteLock, Semaphore, or a lock further down), or "
                           "somebody's data. A SimpleLock needs a path of its own; choose another one"))});
}

void SimpleFlow::handle(const event::Changed&, Actions& out) {
  if (step_ == Step::watching_parent) return watch_parent(out);
  if (step_ != Step::watching) return;
  watching_ = false;
  race(out);  // also when it only changed: creating is how this lock looks again
}

void SimpleFlow::watch_parent(Actions& out) {
  step_ = Step::watching_parent;
  watching_ = true;
  out.emplace_back(action::WatchChildren{Topic::line, parent_of(spec_->path)});
}

void SimpleFlow::handle(const event::Listed& listed, Actions& out) {
  if (step_ != Step::watching_parent) return;
  if (listed.status != Status::ok)
    watching_ = false;
  else if (listed.children.contains(name_of(spec_->path)))
    return;
  else if (std::exchange(watching_, false))
    out.emplace_back(action::Unwatch{Topic::line});
  race(out);
}

void SimpleFlow::handle(const event::Granted&, Actions& out) {
  if (step_ != Step::first) return;
  czxid_ = 0;  // the hold's from now on
  clean_up(Step::over, out);
}

void SimpleFlow::handle(const event::OwnNodeGone&, Actions& out) {
  if (step_ != Step::first) return;
  czxid_ = 0;
  race(out);
}

void SimpleFlow::handle(const event::SessionOver&, Actions& out) {
  // The node that this session leaves behind is waited for like anybody else's; it is deleted when the session ends.
  czxid_ = 0;
  start_again(out);
}

void SimpleFlow::handle(const event::Refused& refused, Actions& out) {
  if (step_ == Step::over) return;
  if (step_ == Step::watching && refused.status == Status::not_authorized) {
    step_ = Step::looking_at_holder;
    watching_ = false;
    out.emplace_back(action::Unwatch{Topic::line});
    out.emplace_back(action::Look{spec_->path});
    return;
  }
  clean_up(Step::over, out);
  out.emplace_back(action::Fail{refused.status, spec_->path, nullptr});
}

void SimpleFlow::start_again(Actions& out) {
  if (step_ == Step::idle || step_ == Step::over) return;
  if (patience_ == Patience::try_once) return not_served(out);
  clean_up(Step::idle, out);
  out.emplace_back(action::AwaitSession{});
}

void SimpleFlow::not_served(Actions& out) {
  clean_up(Step::over, out);
  out.emplace_back(action::NotServed{});
}

void SimpleFlow::clean_up(Step next, Actions& out) {
  step_ = next;
  said_wait_ = false;
  if (std::exchange(watching_, false)) out.emplace_back(action::Unwatch{Topic::line});
  if (czxid_ != 0) out.emplace_back(action::Remove{spec_->path, std::exchange(czxid_, 0)});
}

}  // namespace zkrecipes::detail
