// SPDX-License-Identifier: Apache-2.0
#include "connection/exact_remover.h"

#include <memory>
#include <utility>

#include "connection/backoff.h"
#include "connection/synced_read.h"

namespace zkrecipes::detail {

namespace {

class ExactRemover : public std::enable_shared_from_this<ExactRemover> {
 public:
  ExactRemover(RequestSender& sender, SessionPtr session, std::string path, std::int64_t czxid, std::int32_t version,
               std::function<void(Status)> done)
      : sender_(sender),
        session_(std::move(session)),
        path_(std::move(path)),
        czxid_(czxid),
        version_(version),
        done_(std::move(done)),
        backoff_(sender.retry_policy()) {}

  void look() {
    read_synced(sender_, session_, {RequestKind::exists, path_}, [self = shared_from_this()](const Reply& reply) {
      if (reply.status == Status::connection_loss) return self->look_later();
      const bool there = reply.status == Status::ok && reply.stat.czxid == self->czxid_;
      if (there) return self->remove(reply.connection);
      // Once a removal was sent, a node that is not there any more is what was wanted.
      const bool gone = reply.status == Status::ok || reply.status == Status::no_node;
      if (gone && self->sent_) return self->done_(Status::ok);
      self->done_(reply.status == Status::ok ? Status::bad_version : reply.status);
    });
  }

 private:
  void remove(std::uint64_t connection) {
    sent_ = true;
    Request request{RequestKind::remove, path_};
    request.connection = connection;
    request.version = version_;
    sender_.send(session_, std::move(request), [self = shared_from_this()](const Reply& reply) {
      if (reply.status == Status::connection_loss) return self->look_later();
      self->done_(reply.status == Status::no_node ? Status::ok : reply.status);
    });
  }

  void look_later() {
    sender_.run_after(backoff_.next(sender_.world().random()), [self = shared_from_this()] { self->look(); });
  }

  RequestSender& sender_;
  const SessionPtr session_;
  const std::string path_;
  const std::int64_t czxid_;
  const std::int32_t version_;
  const std::function<void(Status)> done_;
  Backoff backoff_;
  bool sent_ = false;
};

}  // namespace

void remove_exactly(RequestSender& sender, const SessionPtr& session, std::string path, std::int64_t czxid,
                    std::int32_t version, std::function<void(Status)> done) {
  std::make_shared<ExactRemover>(sender, session, std::move(path), czxid, version, std::move(done))->look();
}

}  // namespace zkrecipes::detail
