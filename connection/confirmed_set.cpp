// SPDX-License-Identifier: Apache-2.0
#include "connection/confirmed_set.h"

#include <memory>
#include <utility>

#include "connection/backoff.h"

namespace zkrecipes::detail {

namespace {

class ConfirmedSet : public std::enable_shared_from_this<ConfirmedSet> {
 public:
  ConfirmedSet(RequestSender& sender, SessionPtr session, std::string path, std::string data, std::int32_t version,
               ReplyHandler done)
      : sender_(sender),
        session_(std::move(session)),
        path_(std::move(path)),
        data_(std::move(data)),
        version_(version),
        done_(std::move(done)),
        backoff_(sender.retry_policy()) {}

  void attempt() {
    Request request{RequestKind::set, path_, data_};
    request.version = version_;
    sender_.send(session_, std::move(request), [self = shared_from_this()](Reply reply) {
      if (reply.status == Status::connection_loss) return self->look_later();
      // A repeated write meets its own first one.
      if (reply.status == Status::bad_version && self->uncertain_) return self->look();
      self->done_(std::move(reply));
    });
  }

 private:
  void look_later() {
    uncertain_ = true;
    sender_.run_after(backoff_.next(sender_.world().random()), [self = shared_from_this()] { self->look(); });
  }

  void look() {
    // A server that lags behind would show the node before our write and make us write twice; with an expected version
    // that only costs a round trip, and without one writing twice does no harm. So no sync.
    sender_.send_until_answered(session_, {RequestKind::get, path_}, [self = shared_from_this()](Reply reply) {
      if (reply.status != Status::ok) return self->done_(std::move(reply));
      if (reply.data == self->data_ && (self->version_ < 0 || reply.stat.version == self->version_ + 1))
        return self->done_(std::move(reply));
      if (self->version_ < 0 || reply.stat.version == self->version_) return self->attempt();
      reply.status = Status::bad_version;
      self->done_(std::move(reply));
    });
  }

  RequestSender& sender_;
  const SessionPtr session_;
  const std::string path_;
  const std::string data_;
  const std::int32_t version_;
  const ReplyHandler done_;
  Backoff backoff_;
  bool uncertain_ = false;
};

}  // namespace

void set_confirmed(RequestSender& sender, const SessionPtr& session, std::string path, std::string data,
                   std::int32_t version, ReplyHandler done) {
  std::make_shared<ConfirmedSet>(sender, session, std::move(path), std::move(data), version, std::move(done))
      ->attempt();
}

}  // namespace zkrecipes::detail
