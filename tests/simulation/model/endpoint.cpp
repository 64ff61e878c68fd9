// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/model/endpoint.h"

#include <algorithm>
#include <utility>

namespace zkrecipes::simulation {

using detail::SessionEvent;
using detail::Status;

namespace {

constexpr std::int64_t kNoSession = 1;

/// As the C client checks a path before it sends it.
bool is_valid(const std::string& path, bool sequential) {
  if (path.empty() || path[0] != '/') return false;
  if (path.size() == 1) return true;
  if (path.back() == '/' && !sequential) return false;
  if (path.find('\0') != std::string::npos || path.find("//") != std::string::npos) return false;
  std::size_t begin = 1;
  while (begin <= path.size()) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const bool last = end == path.size();
    const std::string_view name = std::string_view(path).substr(begin, end - begin);
    if ((name == "." || name == "..") && !(last && sequential)) return false;
    begin = end + 1;
  }
  return true;
}

}  // namespace

Endpoint::Endpoint(Ensemble::Cluster& cluster, Process& process, const detail::HandleSettings& settings,
                   std::weak_ptr<detail::HandleListener> listener)
    : cluster_(cluster),
      process_(process),
      address_(settings.address),
      number_(cluster.next_handle_number()),
      listener_(std::move(listener)),
      timeout_(settings.session_timeout) {
  if (settings.session) session_ = *settings.session;
}

Endpoint::~Endpoint() {
  if (connection_ != nullptr) connection_->close_client(false);
}

void Endpoint::post(Time delay, void (Endpoint::*task)()) {
  process_.post(delay, [weak = weak_from_this(), task] {
    if (const std::shared_ptr<Endpoint> self = weak.lock())
      if (self->state_ != State::closed) (self.get()->*task)();
  });
}

// ---- Calls of the owner ----

Status Endpoint::issue(const detail::Request& request, std::uint64_t number) {
  if (state_ == State::expired || state_ == State::closed) return Status::connection_loss;
  if (!is_valid(request.path, request.mode == detail::CreateMode::ephemeral_sequential)) return Status::invalid;
  ClientRequestPtr sent(new ClientRequest);
  sent->request = request;
  sent->number = number;
  const bool connected = state_ == State::connected;
  outstanding_.push_back({number, connected, connected ? nullptr : sent});
  if (connected) send(sent);
  return Status::ok;
}

void Endpoint::send(const ClientRequestPtr& request) {
  last_sent_ = process_.clock();
  UpPacket packet;
  packet.request = request;
  connection_->send_up(std::move(packet));
}

SessionEvent Endpoint::state() const {
  if (state_ == State::connected) return SessionEvent::connected;
  return state_ == State::expired ? SessionEvent::expired : SessionEvent::disconnected;
}

detail::SessionKey Endpoint::hand_session_over() {
  const detail::SessionKey result = session_;
  if (handed_over_ == 0) handed_over_ = result.id;
  session_.id = kNoSession;
  session_.password.fill('\0');
  return result;
}

void Endpoint::close() {
  if (state_ == State::closed) return;
  if (state_ == State::connected && process_.is_alive()) {
    ClientRequestPtr request(new ClientRequest);
    request->kind = ClientRequest::Kind::close_session;
    send(request);
  }
  state_ = State::closed;
  outstanding_.clear();
  reports_.clear();
  if (connection_ != nullptr) {
    ClientConnection& connection = *std::exchange(connection_, nullptr);
    connection.close_client(false);
    cluster_.release(connection);
  }
}

// ---- The I/O thread ----

bool Endpoint::ready() {
  if (!process_.is_alive() || !process_.is_paused()) return true;
  // The packet waits in the socket until the process goes on.
  if (!std::exchange(wake_scheduled_, true)) post(Time::zero(), &Endpoint::wake);
  return false;
}

void Endpoint::wake() {
  wake_scheduled_ = false;
  if (connection_ != nullptr) connection_->pump_down();
}

void Endpoint::attempt() {
  if (state_ == State::connecting || state_ == State::connected || state_ == State::expired) return;
  state_ = State::connecting;
  last_received_ = last_sent_ = process_.clock();
  UpPacket packet;
  packet.kind = UpPacket::Kind::connect;
  packet.session = session_;
  packet.timeout_ms = static_cast<std::int32_t>(timeout_.count());
  packet.last_zxid = last_zxid_;
  bool told = false;
  connection_ = cluster_.connect_client(process_.number(), address_, *this, std::move(packet), told);
  if (connection_ == nullptr && told) post(cluster_.options().most_client_delay, &Endpoint::refused);
  schedule_timer();
}

void Endpoint::refused() {
  if (state_ == State::connecting && connection_ == nullptr) lose_connection(false);
}

void Endpoint::schedule_timer() {
  if (timer_scheduled_ || state_ == State::idle || state_ == State::expired || state_ == State::closed) return;
  timer_scheduled_ = true;
  Time next = last_received_ + timeout_ * 2 / 3;
  if (state_ == State::connected && outstanding_.empty()) next = std::min<Time>(next, last_sent_ + timeout_ / 3);
  // A ping becomes due without a packet when the last answer comes, so look at least this often.
  if (state_ == State::connected) next = std::min<Time>(next, process_.clock() + timeout_ / 3);
  post(std::max(next - process_.clock(), Time(std::chrono::milliseconds(1))), &Endpoint::on_timer);
}

void Endpoint::on_timer() {
  timer_scheduled_ = false;
  // A process that was stopped reads its socket before it says that nothing came.
  if (connection_ != nullptr) connection_->pump_down();
  if (state_ != State::connecting && state_ != State::connected) return;
  const Time now = process_.clock();
  if (now >= last_received_ + timeout_ * 2 / 3) return lose_connection(true);
  if (state_ == State::connected && outstanding_.empty() && now >= last_sent_ + timeout_ / 3) {
    ClientRequestPtr ping(new ClientRequest);
    ping->kind = ClientRequest::Kind::ping;
    send(ping);
  }
  schedule_timer();
}

void Endpoint::receive(DownPacket packet) {
  if (!process_.is_alive()) {
    ClientConnection& connection = *std::exchange(connection_, nullptr);
    state_ = State::closed;
    connection.close_client(true);
    return cluster_.release(connection);
  }
  last_received_ = process_.clock();
  switch (packet.kind) {
    case DownPacket::Kind::refused:
    case DownPacket::Kind::closed:
      return lose_connection(false);
    case DownPacket::Kind::established:
      return established(packet);
    case DownPacket::Kind::session_gone: {
      // The handle stays as it is, good for nothing but to be closed.
      ClientConnection& connection = *std::exchange(connection_, nullptr);
      state_ = State::expired;
      report_session(SessionEvent::expired);
      fail_outstanding();
      connection.close_client(true);
      return cluster_.release(connection);
    }
    case DownPacket::Kind::reply:
      if (packet.zxid > 0) last_zxid_ = packet.zxid;
      if (!outstanding_.empty()) outstanding_.pop_front();
      return report({Report::Kind::reply, {}, std::move(packet)});
    case DownPacket::Kind::event:
      return report({Report::Kind::watch, {}, std::move(packet)});
    case DownPacket::Kind::pong:
      return;
  }
}

void Endpoint::established(const DownPacket& packet) {
  state_ = State::connected;
  session_ = packet.session;
  timeout_ = std::chrono::milliseconds(packet.timeout_ms);
  report_session(SessionEvent::connected);
  for (Outstanding& request : outstanding_) {
    if (request.sent) continue;
    request.sent = true;
    send(std::exchange(request.request, nullptr));
  }
  schedule_timer();
}

void Endpoint::fail_outstanding() {
  for (const Outstanding& request : std::exchange(outstanding_, {})) {
    Report lost{Report::Kind::reply, {}, {}};
    lost.packet.number = request.number;
    lost.packet.answered = false;
    lost.packet.reply = std::make_unique<detail::Reply>();
    lost.packet.reply->status = Status::connection_loss;
    report(std::move(lost));
  }
}

void Endpoint::lose_connection(bool timed_out) {
  // The C client reports the state first, then the requests that were lost.
  if (state_ == State::connected) report_session(SessionEvent::disconnected);
  fail_outstanding();
  state_ = State::idle;
  if (connection_ != nullptr) {
    ClientConnection& connection = *std::exchange(connection_, nullptr);
    // What the kernel has not sent yet is lost if there was anything to read, and is sent later if there was not.
    connection.close_client(timed_out && cluster_.random().chance(0.5));
    cluster_.release(connection);
  }
  post(timeout_ / 60, &Endpoint::attempt);
}

// ---- The completion thread ----

void Endpoint::report_session(SessionEvent event) {
  report({Report::Kind::session, event, {}});
}

void Endpoint::report(Report report) {
  reports_.push_back(std::move(report));
  if (std::exchange(reports_scheduled_, true)) return;
  post(cluster_.between(Time::zero(), cluster_.options().most_report_delay), &Endpoint::run_reports);
}

void Endpoint::run_reports() {
  reports_scheduled_ = false;
  const std::shared_ptr<detail::HandleListener> listener = listener_.lock();
  while (!reports_.empty()) {
    Report next = std::move(reports_.front());
    reports_.pop_front();
    if (!listener) continue;
    switch (next.kind) {
      case Report::Kind::session:
        listener->on_session_event(number_, next.event);
        break;
      case Report::Kind::reply:
        listener->on_reply(next.packet.number, std::move(*next.packet.reply), next.packet.answered);
        break;
      case Report::Kind::watch:
        listener->on_watch_event(number_, next.packet.reply->path, next.packet.event);
        break;
    }
    // The thread may be held up between two reports.
    if (!reports_.empty() && cluster_.random().chance(0.125)) {
      reports_scheduled_ = true;
      return post(cluster_.between(Time::zero(), cluster_.options().most_report_delay), &Endpoint::run_reports);
    }
  }
}

}  // namespace zkrecipes::simulation
