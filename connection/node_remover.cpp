// SPDX-License-Identifier: Apache-2.0
#include "connection/node_remover.h"

#include <glog/logging.h>
#include <memory>
#include <utility>

#include "connection/backoff.h"

namespace zkrecipes::connection {

namespace {

class NodeRemover : public std::enable_shared_from_this<NodeRemover> {
 public:
  NodeRemover(RequestSender& sender, SessionPtr session, std::string path, std::string guid_in_data,
              std::function<void(Status)> done)
      : sender_(sender),
        session_(std::move(session)),
        path_(std::move(path)),
        guid_in_data_(std::move(guid_in_data)),
        done_(std::move(done)),
        backoff_(sender.retry_policy()) {}

  void attempt() {
    sender_.send(session_, {RequestKind::remove, path_},
                 [self = shared_from_this()](const Reply& reply) { self->answered(reply.status); });
  }

  void attempt_if_ours() {
    if (guid_in_data_.empty()) return attempt();
    // Behind a sync: a server that lags behind could show our node after it has gone and another has taken its place.
    sender_.send_until_answered(session_, {RequestKind::sync, path_}, [self = shared_from_this()](const Reply& reply) {
      if (reply.status != Status::ok && reply.status != Status::no_node) return self->answered(reply.status);
      self->look();
    });
  }

 private:
  void look() {
    sender_.send_until_answered(session_, {RequestKind::get, path_}, [self = shared_from_this()](const Reply& reply) {
      const bool gone = reply.status == Status::ok && (reply.data.find(self->guid_in_data_) == std::string::npos ||
                                                       reply.stat.ephemeral_owner != self->session_->id());
      if (reply.status != Status::ok || gone) return self->answered(reply.status);
      self->attempt();
    });
  }

  void answered(Status status) {
    if (status == Status::connection_loss) {
      // Through a timer, so that a connection that fails at once is neither hammered nor recursed into.
      sender_.run_after(backoff_.next(), [self = shared_from_this()] { self->attempt_if_ours(); });
      return;
    }
    if (status == Status::no_node) status = Status::ok;
    if (status != Status::ok && status != Status::session_over && status != Status::closed)
      LOG(ERROR) << "zkrecipes: node " << path_ << " cannot be removed (" << to_string(status)
                 << "); it stays until its session ends";
    if (done_) done_(status);
  }

  RequestSender& sender_;
  const SessionPtr session_;
  const std::string path_;
  const std::string guid_in_data_;
  const std::function<void(Status)> done_;
  Backoff backoff_;
};

}  // namespace

void remove_for_certain(RequestSender& sender, const SessionPtr& session, std::string path, std::string guid_in_data,
                        std::function<void(Status)> done) {
  std::make_shared<NodeRemover>(sender, session, std::move(path), std::move(guid_in_data), std::move(done))->attempt();
}

void remove_if_ours(RequestSender& sender, const SessionPtr& session, std::string path, std::string guid_in_data,
                    std::function<void(Status)> done) {
  std::make_shared<NodeRemover>(sender, session, std::move(path), std::move(guid_in_data), std::move(done))
      ->attempt_if_ours();
}

}  // namespace zkrecipes::connection
