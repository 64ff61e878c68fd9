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
  NodeRemover(RequestSender& sender, SessionPtr session, std::string path, std::function<void(Status)> done)
      : sender_(sender),
        session_(std::move(session)),
        path_(std::move(path)),
        done_(std::move(done)),
        backoff_(sender.retry_policy()) {}

  void attempt() {
    sender_.send(session_, {RequestKind::remove, path_},
                 [self = shared_from_this()](const Reply& reply) { self->answered(reply.status); });
  }

 private:
  void answered(Status status) {
    if (status == Status::connection_loss) {
      // Through a timer, so that a connection that fails at once is neither hammered nor recursed into.
      sender_.run_after(backoff_.next(), [self = shared_from_this()] { self->attempt(); });
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
  const std::function<void(Status)> done_;
  Backoff backoff_;
};

}  // namespace

void remove_for_certain(RequestSender& sender, const SessionPtr& session, std::string path,
                        std::function<void(Status)> done) {
  std::make_shared<NodeRemover>(sender, session, std::move(path), std::move(done))->attempt();
}

}  // namespace zkrecipes::connection
