// SPDX-License-Identifier: Apache-2.0
#include "connection/protected_create.h"

#include <memory>
#include <utility>
#include <vector>

#include "connection/backoff.h"
#include "connection/guid_search.h"
#include "connection/node_path.h"
#include "connection/synced_read.h"

namespace zkrecipes::detail {

namespace {

/// Runs through completions only, one step at a time, so it needs no lock: each completion
/// happens after the step that asked for it. Kept alive by the completions.
class ProtectedCreate : public std::enable_shared_from_this<ProtectedCreate> {
 public:
  ProtectedCreate(RequestSender& sender, SessionPtr session, CreateSpec spec, ChrootPtr chroot,
                  Client::CreateHandler done)
      : sender_(sender),
        session_(std::move(session)),
        spec_(std::move(spec)),
        chroot_(std::move(chroot)),
        done_(std::move(done)),
        backoff_(sender.retry_policy()) {}

  void start() {
    // At a shared path the earlier session's node is somebody else's. The server removes it when that session ends.
    if (spec_.stale_guid.empty() || spec_.guid_place == GuidPlace::in_data)
      create();
    else
      look_for_stale();
  }

 private:
  using Step = void (ProtectedCreate::*)(Reply);

  ReplyHandler then(Step step) {
    return [self = shared_from_this(), step](Reply reply) { ((*self).*step)(std::move(reply)); };
  }

  void finish(Status status, CreatedNode node = {}) {
    node.made_parent = made_parent_;
    std::exchange(done_, nullptr)(status, std::move(node));
  }

  // ---- Create ----

  void create() {
    Request request{RequestKind::create, join(spec_.parent, spec_.name)};
    request.data = spec_.data;
    request.mode = spec_.mode;
    request.acl = spec_.acl;
    // Where the look did not find the node, another server might: the create must not go there.
    request.connection = looked_on_;
    sender_.send(session_, std::move(request), then(&ProtectedCreate::created));
  }

  void created(Reply reply) {
    switch (reply.status) {
      case Status::ok:
        return take({std::move(reply.path), reply.stat, false});
      case Status::no_node:
        if (spec_.needs_parent) return finish(Status::no_parent);
        parents_ = with_ancestors(spec_.parent);
        if (parents_.empty()) return finish(Status::no_node);
        parent_ = parents_.size() - 1;
        return spec_.suspects != nullptr ? look_at_guarded() : create_parent();
      case Status::connection_loss:
        // A server that throttles leaves the connection up: only the first repetition comes at once.
        if (std::exchange(uncertain_, true)) return look_again();
        return look();
      case Status::node_exists:
        if (uncertain_) return look();  // it may be the one whose reply was lost
        return finish(Status::node_exists);
      default:
        return finish(reply.status);
    }
  }

  // ---- Missing parents: up until one can be made, then down again ----

  /// Or above it.
  bool is_chroot(const std::string& parent) const { return chroot_ && parent.size() <= chroot_->path.size(); }

  void look_at_guarded() {
    sender_.send_until_answered(session_, {RequestKind::list, spec_.guarded}, then(&ProtectedCreate::guarded_listed));
  }

  void guarded_listed(Reply reply) {
    if (reply.status != Status::ok && reply.status != Status::no_node) return finish(reply.status);
    candidates_.clear();
    for (const std::string& suspect : spec_.suspects(reply.children))
      candidates_.push_back(join(spec_.guarded, suspect));
    examine_suspect();
  }

  /// A folder may have a name like that of a lock node. It is not ephemeral. A node that has left meanwhile counts for
  /// nothing here: this look only saves the parents from being made for nothing.
  void examine_suspect() {
    if (candidates_.empty()) return create_parent();
    sender_.send_until_answered(session_, {RequestKind::exists, candidates_.back()},
                                then(&ProtectedCreate::suspect_examined));
  }

  void suspect_examined(Reply reply) {
    if (reply.status != Status::ok && reply.status != Status::no_node) return finish(reply.status);
    if (reply.status == Status::ok && reply.stat.is_ephemeral())
      return finish(Status::occupied, {std::move(candidates_.back()), reply.stat, false});
    candidates_.pop_back();
    examine_suspect();
  }

  void create_parent() {
    if (is_chroot(parents_[parent_]) && !chroot_->may_be_made) return finish(Status::no_chroot);
    Request request{RequestKind::create, parents_[parent_]};
    request.mode = parent_ + 1 == parents_.size() ? spec_.parent_mode : ancestor_mode_;
    request.acl = spec_.parent_acl;
    sender_.send(session_, std::move(request), then(&ProtectedCreate::parent_created));
  }

  void parent_created(Reply reply) {
    switch (reply.status) {
      case Status::ok:
        made_parent_ = parent_ + 1 == parents_.size();
        if (chroot_ && parents_[parent_] == chroot_->path) chroot_->made();
        [[fallthrough]];
      case Status::node_exists:
        if (++parent_ == parents_.size()) return create();
        return create_parent();
      case Status::no_node:
        if (parent_ == 0) return finish(Status::no_node);
        --parent_;
        return create_parent();
      case Status::connection_loss:
        return sender_.run_after(backoff_.next(sender_.world().random()),
                                 [self = shared_from_this()] { self->create_parent(); });
      case Status::unsupported:
        // A server older than container nodes.
        if (ancestor_mode_ == CreateMode::persistent) return finish(Status::unsupported);
        ancestor_mode_ = CreateMode::persistent;
        if (spec_.parent_mode == CreateMode::container) spec_.parent_mode = CreateMode::persistent;
        return create_parent();
      default:
        return finish(reply.status);
    }
  }

  // ---- After a lost session ----

  void look_for_stale() {
    sender_.send_until_answered(session_, {RequestKind::list, spec_.parent}, then(&ProtectedCreate::stale_listed));
  }

  void stale_listed(Reply reply) {
    if (reply.status != Status::ok && reply.status != Status::no_node) return finish(reply.status);
    candidates_ = carrying(spec_.stale_guid, spec_.parent, reply.children);
    remove_stale();
  }

  void remove_stale() {
    if (candidates_.empty()) return create();
    sender_.send_until_answered(session_, {RequestKind::remove, candidates_.back()},
                                then(&ProtectedCreate::stale_removed));
  }

  void stale_removed(Reply reply) {
    if (reply.status != Status::ok && reply.status != Status::no_node) return finish(reply.status);
    if (reply.status == Status::ok && spec_.on_stale_removed) spec_.on_stale_removed(candidates_.back());
    candidates_.pop_back();
    remove_stale();
  }

  // ---- After a lost reply ----

  void look() {
    if (spec_.guid_place == GuidPlace::in_name)
      find_by_guid(sender_, session_, spec_.parent, spec_.guid,
                   [self = shared_from_this()](const GuidSearch& search) { self->searched(search); });
    else
      read_synced(sender_, session_, {RequestKind::get, join(spec_.parent, spec_.name)}, then(&ProtectedCreate::got));
  }

  void look_again() {
    sender_.run_after(backoff_.next(sender_.world().random()), [self = shared_from_this()] { self->look(); });
  }

  void searched(const GuidSearch& search) {
    looked_on_ = search.connection;
    if (search.status == Status::no_node) return create();
    if (search.status == Status::connection_loss) return look_again();
    if (search.status != Status::ok) return finish(search.status);
    candidates_ = search.paths;
    found_ = {};
    examine_next();
  }

  /// Keeps the first candidate that is ours and removes the others.
  void examine_next() {
    if (candidates_.empty()) {
      if (found_.path.empty()) return create();
      return finish(Status::ok, std::move(found_));
    }
    sender_.send(session_, {RequestKind::exists, candidates_.back()}, then(&ProtectedCreate::examined));
  }

  void examined(Reply reply) {
    if (reply.status == Status::connection_loss) return look_again();
    if (reply.status == Status::no_node) {
      candidates_.pop_back();
      return examine_next();
    }
    if (reply.status != Status::ok) return finish(reply.status);
    if (found_.path.empty() && reply.stat.ephemeral_owner == session_->id()) {
      found_ = {std::move(candidates_.back()), reply.stat, true};
      candidates_.pop_back();
      return examine_next();
    }
    sender_.send(session_, {RequestKind::remove, candidates_.back()}, then(&ProtectedCreate::stray_removed));
  }

  void stray_removed(Reply reply) {
    if (reply.status == Status::connection_loss) return look_again();
    if (reply.status != Status::ok && reply.status != Status::no_node) return finish(reply.status);
    candidates_.pop_back();
    examine_next();
  }

  void got(Reply reply) {
    looked_on_ = reply.connection;
    if (reply.status == Status::no_node) return create();
    if (reply.status == Status::connection_loss) return look_again();
    if (reply.status == Status::not_authorized) return look_from_outside();
    if (reply.status != Status::ok) return finish(reply.status);
    const bool has_our_guid = reply.data.find(spec_.guid) != std::string::npos;
    const bool ours = reply.stat.ephemeral_owner == session_->id() && (has_our_guid || !session_->is_shared());
    if (!ours) return finish(Status::node_exists);
    take({join(spec_.parent, spec_.name), reply.stat, true});
  }

  /// The node may not be read: somebody else's, as a rule. To see its owner needs no permission.
  void look_from_outside() {
    read_synced(sender_, session_, {RequestKind::exists, join(spec_.parent, spec_.name)},
                then(&ProtectedCreate::seen_from_outside));
  }

  void seen_from_outside(Reply reply) {
    if (reply.status == Status::ok && reply.stat.ephemeral_owner == session_->id() && session_->is_shared())
      return finish(Status::not_authorized);  // only the guid could tell whose it is
    got(std::move(reply));
  }

  /// The node is the session's, and ours unless another contender of the session has it.
  void take(CreatedNode node) {
    if (spec_.guid_place == GuidPlace::in_data && !session_->claims().claim(node.path, node.stat.czxid))
      return finish(Status::node_exists);
    finish(Status::ok, std::move(node));
  }

  RequestSender& sender_;
  const SessionPtr session_;
  CreateSpec spec_;
  const ChrootPtr chroot_;
  Client::CreateHandler done_;
  std::vector<std::string> parents_;  // once they are known to be missing
  Backoff backoff_;
  CreateMode ancestor_mode_ = CreateMode::container;
  std::size_t parent_ = 0;       // the one being made
  bool made_parent_ = false;     // the last one of them
  bool uncertain_ = false;       // a create may have been applied
  std::uint64_t looked_on_ = 0;  // the connection that answered the last look; 0: there was none
  std::vector<std::string> candidates_;
  CreatedNode found_;
};

}  // namespace

void create_protected(RequestSender& sender, const SessionPtr& session, CreateSpec spec, Client::CreateHandler done,
                      ChrootPtr chroot) {
  std::make_shared<ProtectedCreate>(sender, session, std::move(spec), std::move(chroot), std::move(done))->start();
}

}  // namespace zkrecipes::detail
