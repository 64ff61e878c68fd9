// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "connection/handle.h"
#include "tests/simulation/model/cluster.h"
#include "tests/simulation/process.h"

namespace zkrecipes::simulation {

/// The client's end of one connection after the other with one address, with the habits of the C client: its I/O thread
/// reacts as soon as the process runs, its completion thread reports a little later, in order.
class Endpoint final : public std::enable_shared_from_this<Endpoint>, private ClientConnection::Client {
 public:
  Endpoint(Ensemble::Cluster& cluster, Process& process, const detail::HandleSettings& settings,
           std::weak_ptr<detail::HandleListener> listener);
  ~Endpoint() override;

  void start() { post(Time::zero(), &Endpoint::attempt); }
  void close();

  std::uint32_t number() const { return number_; }
  std::uint64_t next_request() { return (static_cast<std::uint64_t>(number_) << 40) | ++last_request_; }
  detail::Status issue(const detail::Request& request, std::uint64_t number);
  detail::SessionEvent state() const;
  bool was_refused() const { return state_ == State::idle; }
  std::int64_t session_id() const { return handed_over_ != 0 ? handed_over_ : session_.id; }
  std::chrono::milliseconds session_timeout() const { return timeout_; }
  detail::SessionKey hand_session_over();

 private:
  enum class State { starting, idle, connecting, connected, expired, closed };
  struct Outstanding {
    std::uint64_t number;
    bool sent;
    ClientRequestPtr request;
  };
  struct Report {
    enum class Kind { session, reply, watch } kind;
    detail::SessionEvent event;
    DownPacket packet;
  };

  bool ready() override;
  void receive(DownPacket packet) override;

  void attempt();
  void established(const DownPacket& packet);
  void fail_outstanding();
  void lose_connection(bool timed_out);
  void refused();
  void on_timer();
  void schedule_timer();
  void wake();
  void send(const ClientRequestPtr& request);
  void report(Report report);
  void report_session(detail::SessionEvent event);
  void run_reports();
  void post(Time delay, void (Endpoint::*task)());

  Ensemble::Cluster& cluster_;
  Process& process_;
  const std::string address_;
  const std::uint32_t number_;
  const std::weak_ptr<detail::HandleListener> listener_;

  State state_ = State::starting;
  ClientConnection* connection_ = nullptr;
  detail::SessionKey session_;
  std::int64_t handed_over_ = 0;
  std::chrono::milliseconds timeout_;
  std::int64_t last_zxid_ = 0;
  std::uint64_t last_request_ = 0;
  std::deque<Outstanding> outstanding_;
  Time last_received_{};  // on the process's clock
  Time last_sent_{};
  bool timer_scheduled_ = false;
  bool wake_scheduled_ = false;
  std::deque<Report> reports_;
  bool reports_scheduled_ = false;
};

}  // namespace zkrecipes::simulation
