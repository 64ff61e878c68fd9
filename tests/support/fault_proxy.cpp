// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fault_proxy.h"

#include <numeric>
#include <ostream>
#include <stdexcept>
#include <utility>

#include "testkit/endpoint.h"
#include "testkit/tcp_relay.h"
#include "tests/support/proxied_connection.h"

namespace zkrecipes::testing {

using std::chrono::milliseconds;
using testkit::RelayedConnection;

/// The relay passes the connections on; this adds the faults to them.
struct FaultProxy::State {
  explicit State(const std::string& upstream)
      : relay({testkit::parse_endpoint(upstream)},
              [this](testkit::RelayState& state, RelayedConnection::Socket client) {
                return std::make_shared<ProxiedConnection>(state, shared, ++accepted, std::move(client));
              }) {}

  // A client can see a connection end before the handler that ended it has written all of it down, hence settle().
  template <class Question>
  auto ask(Question question) {
    relay.settle();
    return shared.ledger.ask(question);
  }
  template <class Condition>
  bool wait(milliseconds limit, Condition condition) {
    relay.settle();
    return shared.ledger.wait(relay.on_own_thread() ? milliseconds::zero() : limit, condition);
  }

  void arm(Fault::Action action, RequestKind kind, int nth, std::int32_t error = 0);

  ProxyShared shared;
  long accepted = 0;        // used on the relay's thread only
  testkit::TcpRelay relay;  // last: its thread uses the rest
};

void FaultProxy::State::arm(Fault::Action action, RequestKind kind, int nth, std::int32_t error) {
  if (nth < 1) {
    throw std::invalid_argument("a fault needs nth >= 1, not " + std::to_string(nth));
  }
  relay.run([this, fault = Fault{action, kind, nth, error}] {
    shared.plan.arm(fault);
    shared.ledger.update([](Ledger& now) { ++now.armed; });
  });
}

std::ostream& operator<<(std::ostream& out, const Observed& observed) {
  return out << '#' << observed.connection << ' ' << static_cast<const Message&>(observed);
}

FaultProxy::FaultProxy(const std::string& upstream) : state_(std::make_unique<State>(upstream)) {}

FaultProxy::~FaultProxy() = default;

std::string FaultProxy::address() const {
  return state_->relay.address();
}

void FaultProxy::set_upstream(const std::string& upstream) {
  state_->relay.set_upstream({testkit::parse_endpoint(upstream)});
}

void FaultProxy::drop_reply(RequestKind kind, int nth) {
  state_->arm(Fault::Action::drop_reply, kind, nth);
}

void FaultProxy::cut_request_half_way(RequestKind kind, int nth) {
  state_->arm(Fault::Action::cut_half_way, kind, nth);
}

void FaultProxy::cut_before_request(RequestKind kind, int nth) {
  state_->arm(Fault::Action::cut_before, kind, nth);
}

void FaultProxy::hold_reply(RequestKind kind, int nth) {
  state_->arm(Fault::Action::hold_reply, kind, nth);
}

void FaultProxy::release_held() {
  state_->relay.run([state = state_.get()] {
    for (const auto& connection : state->relay.connections()) connection->release_held();
  });
}

void FaultProxy::answer_with_error(RequestKind kind, std::int32_t error, int times) {
  if (kind == RequestKind::connect || kind == RequestKind::ping || kind == RequestKind::set_watches) {
    throw std::invalid_argument(std::string("no error is possible in answer to ") + name_of(kind));
  }
  for (int n = 0; n < times; ++n) {
    state_->arm(Fault::Action::answer_with_error, kind, 1, error);
  }
}

int FaultProxy::armed() const {
  return state_->ask([](const Ledger& now) { return now.armed; });
}

bool FaultProxy::wait_until_fired(milliseconds limit) const {
  return state_->wait(limit, [](const Ledger& now) { return now.armed == 0; });
}

void FaultProxy::clear_faults() {
  state_->relay.run([state = state_.get()] {
    state->shared.plan.clear();
    for (const auto& connection : state->relay.connections())
      dynamic_cast<ProxiedConnection&>(*connection).forget_faults();
    state->shared.ledger.update([](Ledger& now) { now.armed = 0; });
  });
}

void FaultProxy::cut() {
  state_->relay.cut();
}

void FaultProxy::reset() {
  state_->relay.reset();
}

void FaultProxy::black_hole(Direction direction) {
  state_->relay.black_hole(direction);
}

void FaultProxy::delay(milliseconds each_way) {
  state_->relay.delay(each_way);
}

void FaultProxy::deliver_single_bytes(bool on) {
  state_->relay.deliver_single_bytes(on);
}

void FaultProxy::never_answer(bool on) {
  state_->relay.never_answer(on);
}

void FaultProxy::refuse(bool on) {
  state_->relay.refuse(on);
}

void FaultProxy::heal() {
  state_->relay.heal();
}

long FaultProxy::Counts::of(RequestKind kind) const {
  const auto found = requests.find(kind);
  return found == requests.end() ? 0 : found->second;
}

long FaultProxy::Counts::requests_total() const {
  return std::accumulate(requests.begin(), requests.end(), 0L,
                         [](long sum, const auto& entry) { return sum + entry.second; });
}

long FaultProxy::Counts::operations() const {
  return requests_total() - of(RequestKind::connect) - of(RequestKind::ping) - of(RequestKind::auth) -
         of(RequestKind::set_watches) - of(RequestKind::close_session);
}

FaultProxy::Counts FaultProxy::counts() const {
  return state_->ask([](const Ledger& now) { return now.counts; });
}

void FaultProxy::reset_counts() {
  state_->relay.run([state = state_.get()] {
    state->shared.ledger.update([](Ledger& now) {
      now.counts = {};
      now.trace.clear();
    });
  });
}

bool FaultProxy::wait_until(const std::function<bool(const Counts&)>& condition, milliseconds limit) const {
  return state_->wait(limit, [&](const Ledger& now) { return condition(now.counts); });
}

int FaultProxy::open_connections() const {
  return state_->ask([](const Ledger& now) { return now.open_connections; });
}

bool FaultProxy::wait_until_open_connections(int number, milliseconds limit) const {
  return state_->wait(limit, [number](const Ledger& now) { return now.open_connections == number; });
}

void FaultProxy::observe(std::function<void(const Observed&)> observer) {
  state_->relay.run([state = state_.get(), observer = std::move(observer)]() mutable {
    state->shared.observer = std::move(observer);
  });
}

std::vector<Observed> FaultProxy::trace() const {
  return state_->ask([](const Ledger& now) { return std::vector<Observed>(now.trace.begin(), now.trace.end()); });
}

}  // namespace zkrecipes::testing
