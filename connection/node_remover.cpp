// SPDX-License-Identifier: Apache-2.0
#include "connection/node_remover.h"

#include <memory>
#include <utility>

#include "connection/backoff.h"
#include "connection/synced_read.h"

namespace zkrecipes::detail {

namespace {

class NodeRemover : public std::enable_shared_from_this<NodeRemover> {
 public:
  NodeRemover(RequestSender& sender, SessionPtr session, std::string path, NodeMark mark,
              std::function<void(Status)> done, std::function<void()> removed)
      : sender_(sender),
        session_(std::move(session)),
        path_(std::move(path)),
        mark_(std::move(mark)),
        done_(std::move(done)),
        removed_(std::move(removed)),
        backoff_(sender.retry_policy()) {}

  /// `connection`: the one that has shown that the node is ours; 0: any.
  void attempt(std::uint64_t connection = 0) {
    Request request{RequestKind::remove, path_};
    request.connection = connection;
    sender_.send(session_, std::move(request), [self = shared_from_this()](const Reply& reply) {
      if (reply.status == Status::ok && self->removed_) self->removed_();
      self->answered(reply.status);
    });
  }

  void attempt_if_ours() {
    if (mark_.empty()) return attempt();
    // Only get shows data; exists needs no permission to read.
    const RequestKind kind = mark_.czxid != 0 ? RequestKind::exists : RequestKind::get;
    // A server that lags behind, or a leader that has been deposed, could show our node after it has gone and another
    // has taken its place. Behind a sync the first cannot. The second cannot commit a removal, so the removal must not
    // leave this connection.
    read_synced(sender_, session_, {kind, path_}, [self = shared_from_this()](const Reply& reply) {
      if (reply.status != Status::ok || !self->is_ours(reply)) return self->answered(reply.status);
      self->attempt(reply.connection);
    });
  }

 private:
  bool is_ours(const Reply& reply) const {
    if (reply.stat.ephemeral_owner != session_->id()) return false;
    return mark_.czxid != 0 ? reply.stat.czxid == mark_.czxid
                            : reply.data.find(mark_.guid_in_data) != std::string::npos;
  }

  void answered(Status status) {
    if (status == Status::connection_loss) {
      // Through a timer, so that a connection that fails at once is neither hammered nor recursed into.
      sender_.run_after(backoff_.next(sender_.world().random()),
                        [self = shared_from_this()] { self->attempt_if_ours(); });
      return;
    }
    if (status == Status::no_node) status = Status::ok;
    // Only a folder can have children. It is removed by way of tidying up, and stays when somebody uses it.
    if (status != Status::ok && status != Status::not_empty && status != Status::session_over &&
        status != Status::closed)
      sender_.log()->error("node " + path_ + " cannot be removed (" + to_string(status) +
                           "); it stays until its session ends");
    if (done_) done_(status);
  }

  RequestSender& sender_;
  const SessionPtr session_;
  const std::string path_;
  const NodeMark mark_;
  const std::function<void(Status)> done_;
  const std::function<void()> removed_;
  Backoff backoff_;
};

}  // namespace

void remove_for_certain(RequestSender& sender, const SessionPtr& session, std::string path, std::int64_t czxid,
                        std::function<void(Status)> done, std::function<void()> removed) {
  std::make_shared<NodeRemover>(sender, session, std::move(path), NodeMark{czxid, {}}, std::move(done),
                                std::move(removed))
      ->attempt();
}

void remove_if_ours(RequestSender& sender, const SessionPtr& session, std::string path, NodeMark mark,
                    std::function<void(Status)> done, std::function<void()> removed) {
  std::make_shared<NodeRemover>(sender, session, std::move(path), std::move(mark), std::move(done), std::move(removed))
      ->attempt_if_ours();
}

}  // namespace zkrecipes::detail
