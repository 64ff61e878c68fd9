// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "connection/request_sender.h"
#include "connection/system_world.h"

namespace zkrecipes::detail {

/// A server played by the test: keeps each request until the test answers it, and each pause until the test ends it.
/// Answers come on connection 1, after reconnect() on the next one; a request that asked for an earlier connection can
/// then only be lost.
class ScriptedSender final : public RequestSender {
 public:
  void send(const SessionPtr& session, Request request, ReplyHandler done) override {
    EXPECT_EQ(session, session_);
    sent_.push_back({std::move(request), std::move(done), false});
  }
  void send_until_answered(const SessionPtr& session, Request request, ReplyHandler done) override {
    EXPECT_EQ(session, session_);
    sent_.push_back({std::move(request), std::move(done), true});
  }
  void run_after(std::chrono::milliseconds delay, std::function<void()> task) override {
    EXPECT_GT(delay.count(), 0);
    pauses_.push_back(std::move(task));
  }
  const RetryPolicy& retry_policy() const override { return policy_; }
  World& world() const override { return *system_world(); }
  const LogPtr& log() const override { return log_; }

  const SessionPtr& session() const { return session_; }

  /// Answers the oldest request, which must be of this kind, and returns it.
  Request answer(RequestKind kind, Reply reply) {
    if (sent_.empty()) {
      ADD_FAILURE() << "nothing was sent";
      return {};
    }
    Sent first = std::move(sent_.front());
    sent_.pop_front();
    EXPECT_EQ(first.request.kind, kind);
    EXPECT_FALSE(first.repeated && reply.status == Status::connection_loss) << "the sender itself repeats this one";
    const bool connection_over = first.request.connection != 0 && first.request.connection != connection_;
    EXPECT_FALSE(connection_over && reply.status != Status::connection_loss) << "it can only be lost";
    if (reply.status != Status::connection_loss) reply.connection = connection_;
    first.done(std::move(reply));
    return first.request;
  }
  Request answer(RequestKind kind, Status status) {
    Reply reply;
    reply.status = status;
    return answer(kind, std::move(reply));
  }
  /// With ok.
  Request answer_created(const std::string& path, std::int64_t czxid) {
    Reply reply;
    reply.path = path;
    reply.stat.czxid = czxid;
    reply.stat.ephemeral_owner = session_->id();
    return answer(RequestKind::create, std::move(reply));
  }
  Request answer_children(std::vector<std::string> children) {
    Reply reply;
    reply.children = std::move(children);
    return answer(RequestKind::list, std::move(reply));
  }
  Request answer_node(RequestKind kind, const std::string& data, std::int64_t owner, std::int64_t czxid,
                      std::int32_t version = 0) {
    Reply reply;
    reply.data = data;
    reply.stat.ephemeral_owner = owner;
    reply.stat.czxid = czxid;
    reply.stat.version = version;
    return answer(kind, std::move(reply));
  }

  /// Another server answers from now on.
  void reconnect() { ++connection_; }
  std::uint64_t connection() const { return connection_; }

  void end_pause() {
    ASSERT_EQ(pauses_.size(), 1u);
    auto task = std::move(pauses_.front());
    pauses_.clear();
    task();
  }

  std::size_t outstanding() const { return sent_.size(); }
  bool idle() const { return sent_.empty() && pauses_.empty(); }

 private:
  struct Sent {
    Request request;
    ReplyHandler done;
    bool repeated;
  };
  const SessionPtr session_ =
      std::make_shared<Session>(77, std::chrono::seconds(10), LeaseClock::time_point{}, std::chrono::seconds(1));
  const RetryPolicy policy_{};
  const LogPtr log_ = std::make_shared<const Log>(nullptr);
  std::uint64_t connection_ = 1;
  std::deque<Sent> sent_;
  std::vector<std::function<void()>> pauses_;
};

inline void PrintTo(Status status, std::ostream* out) {
  *out << to_string(status);
}

}  // namespace zkrecipes::detail
