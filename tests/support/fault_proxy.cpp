// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fault_proxy.h"

#include <algorithm>
#include <charconv>
#include <future>
#include <glog/logging.h>
#include <numeric>
#include <ostream>
#include <stdexcept>
#include <thread>
#include <utility>

#include "tests/support/proxied_connection.h"

namespace zkrecipes::testing {

using std::chrono::milliseconds;

namespace {

constexpr milliseconds kPauseAfterFailedAccept{10};

tcp::endpoint parse_endpoint(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon != std::string::npos) {
    error_code failed;
    const auto address = asio::ip::make_address(text.substr(0, colon), failed);
    unsigned short port = 0;
    const char* const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data() + colon + 1, end, port);
    if (!failed && parsed.ec == std::errc() && parsed.ptr == end && port != 0) {
      return {address, port};
    }
  }
  throw std::invalid_argument("not a numeric address:port: \"" + text + "\"");
}

}  // namespace

/// Owns the thread, the listener and the connections. All but construction and destruction happens on the
/// thread.
class FaultProxy::Relay {
 public:
  explicit Relay(const std::string& upstream);
  ~Relay();

  void run(std::function<void()> action);
  template <class Question>
  auto ask(Question question) {
    settle();
    return shared_.ledger.ask(question);
  }
  template <class Condition>
  bool wait(milliseconds limit, Condition condition) {
    settle();
    return shared_.ledger.wait(on_own_thread() ? milliseconds::zero() : limit, condition);
  }
  bool on_own_thread() { return io_.get_executor().running_in_this_thread(); }
  /// A client can see a connection end before the handler that ended it has written all of it down.
  void settle() {
    if (!on_own_thread()) run([] {});
  }

  void arm(Fault::Action action, RequestKind kind, int nth, std::int32_t error = 0);
  void refuse(bool on);
  void never_answer(bool on);
  template <class Choice>
  void close_if(Choice choice, void (*how)(tcp::socket&) = close_gracefully);

  asio::io_context io_{1};
  ProxyShared shared_;
  tcp::endpoint upstream_;
  tcp::endpoint address_;  // constant after construction
  std::vector<std::shared_ptr<ProxiedConnection>> connections_;

 private:
  void listen();
  void stop_listening();
  void accept();
  void accepted(tcp::socket client);

  tcp::acceptor port_keeper_{io_};  // bound and never listening, so that the port stays ours while we refuse
  tcp::acceptor listener_{io_};
  asio::steady_timer accept_pause_{io_};
  long accepted_ = 0;
  long listening_since_ = 0;  // changes when listening stops: an accept begun before must not count
  asio::executor_work_guard<asio::io_context::executor_type> keep_running_{io_.get_executor()};
  std::thread thread_;
};

FaultProxy::Relay::Relay(const std::string& upstream) : upstream_(parse_endpoint(upstream)) {
  const tcp::endpoint any_port(asio::ip::address_v4::loopback(), 0);
  port_keeper_.open(any_port.protocol());
  keep_to_ourselves(port_keeper_.native_handle());
  port_keeper_.set_option(tcp::acceptor::reuse_address(true));
  port_keeper_.bind(any_port);
  address_ = port_keeper_.local_endpoint();
  listen();
  thread_ = std::thread([this] { io_.run(); });
}

FaultProxy::Relay::~Relay() {
  io_.stop();
  thread_.join();
  close_if([](const ProxiedConnection&) { return true; });
}

/// Runs the action on the proxy's thread and waits for it; called on that thread, leaves it for later.
void FaultProxy::Relay::run(std::function<void()> action) {
  std::packaged_task<void()> task(std::move(action));
  std::future<void> done = task.get_future();
  asio::post(io_, [task = std::move(task)]() mutable { task(); });
  if (!on_own_thread()) {
    done.get();
  }
}

void FaultProxy::Relay::arm(Fault::Action action, RequestKind kind, int nth, std::int32_t error) {
  if (nth < 1) {
    throw std::invalid_argument("a fault needs nth >= 1, not " + std::to_string(nth));
  }
  run([this, fault = Fault{action, kind, nth, error}] {
    shared_.plan.arm(fault);
    shared_.ledger.update([](Ledger& now) { ++now.armed; });
  });
}

void FaultProxy::Relay::refuse(bool on) {
  if (on) {
    stop_listening();
    close_if([](const ProxiedConnection&) { return true; });
  } else if (!listener_.is_open()) {
    listen();
  }
}

void FaultProxy::Relay::never_answer(bool on) {
  shared_.conditions.never_answer = on;
  if (!on) {
    close_if([](const ProxiedConnection& connection) { return !connection.is_started(); });
  }
}

void FaultProxy::Relay::listen() {
  try {
    listener_.open(address_.protocol());
    keep_to_ourselves(listener_.native_handle());
    listener_.set_option(tcp::acceptor::reuse_address(true));
    listener_.bind(address_);
    listener_.listen();
  } catch (const boost::system::system_error& failed) {
    stop_listening();
    const std::string what =
        "fault proxy cannot listen on its port " + std::to_string(address_.port()) + ": " + failed.what();
    LOG(ERROR) << what;
    throw std::runtime_error(what);
  }
  accept();
}

void FaultProxy::Relay::stop_listening() {
  error_code ignored;
  accept_pause_.cancel(ignored);
  listener_.close(ignored);
  ++listening_since_;
}

void FaultProxy::Relay::accept() {
  listener_.async_accept([this, generation = listening_since_](error_code failed, tcp::socket client) {
    if (generation != listening_since_) {
      return;
    }
    if (!failed) {
      accepted(std::move(client));
      accept();
      return;
    }
    LOG(WARNING) << "fault proxy cannot accept: " << failed.message();
    accept_pause_.expires_after(kPauseAfterFailedAccept);
    accept_pause_.async_wait([this](error_code cancelled) {
      if (!cancelled) {
        accept();
      }
    });
  });
}

void FaultProxy::Relay::accepted(tcp::socket client) {
  close_if([](const ProxiedConnection& connection) { return connection.is_closed(); });
  const auto connection = std::make_shared<ProxiedConnection>(shared_, ++accepted_, std::move(client));
  connections_.push_back(connection);
  shared_.ledger.update([](Ledger& now) {
    ++now.counts.connections;
    ++now.open_connections;
  });
  if (!shared_.conditions.never_answer) {
    connection->start(upstream_);
  }
}

template <class Choice>
void FaultProxy::Relay::close_if(Choice choice, void (*how)(tcp::socket&)) {
  const auto chosen = std::partition(connections_.begin(), connections_.end(),
                                     [&](const auto& connection) { return !choice(*connection); });
  std::for_each(chosen, connections_.end(), [&](const auto& connection) { connection->close(how); });
  connections_.erase(chosen, connections_.end());
}

std::ostream& operator<<(std::ostream& out, const Observed& observed) {
  return out << '#' << observed.connection << ' ' << static_cast<const Message&>(observed);
}

FaultProxy::FaultProxy(const std::string& upstream) : relay_(std::make_unique<Relay>(upstream)) {}

FaultProxy::~FaultProxy() = default;

std::string FaultProxy::address() const {
  return relay_->address_.address().to_string() + ":" + std::to_string(relay_->address_.port());
}

void FaultProxy::set_upstream(const std::string& upstream) {
  relay_->run([relay = relay_.get(), endpoint = parse_endpoint(upstream)] { relay->upstream_ = endpoint; });
}

void FaultProxy::drop_reply(RequestKind kind, int nth) {
  relay_->arm(Fault::Action::drop_reply, kind, nth);
}

void FaultProxy::cut_request_half_way(RequestKind kind, int nth) {
  relay_->arm(Fault::Action::cut_half_way, kind, nth);
}

void FaultProxy::cut_before_request(RequestKind kind, int nth) {
  relay_->arm(Fault::Action::cut_before, kind, nth);
}

void FaultProxy::hold_reply(RequestKind kind, int nth) {
  relay_->arm(Fault::Action::hold_reply, kind, nth);
}

void FaultProxy::release_held() {
  relay_->run([relay = relay_.get()] {
    for (const auto& connection : relay->connections_) {
      connection->release_held();
    }
  });
}

void FaultProxy::answer_with_error(RequestKind kind, std::int32_t error, int times) {
  if (kind == RequestKind::connect || kind == RequestKind::ping || kind == RequestKind::set_watches) {
    throw std::invalid_argument(std::string("no error is possible in answer to ") + name_of(kind));
  }
  for (int n = 0; n < times; ++n) {
    relay_->arm(Fault::Action::answer_with_error, kind, 1, error);
  }
}

int FaultProxy::armed() const {
  return relay_->ask([](const Ledger& now) { return now.armed; });
}

bool FaultProxy::wait_until_fired(milliseconds limit) const {
  return relay_->wait(limit, [](const Ledger& now) { return now.armed == 0; });
}

void FaultProxy::clear_faults() {
  relay_->run([relay = relay_.get()] {
    relay->shared_.plan.clear();
    for (const auto& connection : relay->connections_) {
      connection->forget_faults();
    }
    relay->shared_.ledger.update([](Ledger& now) { now.armed = 0; });
  });
}

void FaultProxy::cut() {
  relay_->run([relay = relay_.get()] { relay->close_if([](const ProxiedConnection&) { return true; }); });
}

void FaultProxy::reset() {
  relay_->run(
      [relay = relay_.get()] { relay->close_if([](const ProxiedConnection&) { return true; }, close_with_reset); });
}

void FaultProxy::black_hole(Direction direction) {
  relay_->run([relay = relay_.get(), direction] {
    Conditions& conditions = relay->shared_.conditions;
    conditions.black_to_server |= direction != Direction::to_client;
    conditions.black_to_client |= direction != Direction::to_server;
    for (const auto& connection : relay->connections_) {
      connection->black_hole_begins();
    }
  });
}

void FaultProxy::delay(milliseconds each_way) {
  relay_->run([relay = relay_.get(), each_way] { relay->shared_.conditions.delay = each_way; });
}

void FaultProxy::deliver_single_bytes(bool on) {
  relay_->run([relay = relay_.get(), on] { relay->shared_.conditions.single_bytes = on; });
}

void FaultProxy::never_answer(bool on) {
  relay_->run([relay = relay_.get(), on] { relay->never_answer(on); });
}

void FaultProxy::refuse(bool on) {
  relay_->run([relay = relay_.get(), on] { relay->refuse(on); });
}

void FaultProxy::heal() {
  relay_->run([relay = relay_.get()] {
    Conditions& conditions = relay->shared_.conditions;
    conditions.black_to_server = conditions.black_to_client = conditions.single_bytes = false;
    conditions.delay = milliseconds::zero();
    relay->close_if([](const ProxiedConnection& connection) { return connection.has_holes(); });
    relay->never_answer(false);
    relay->refuse(false);
  });
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
  return relay_->ask([](const Ledger& now) { return now.counts; });
}

void FaultProxy::reset_counts() {
  relay_->run([relay = relay_.get()] {
    relay->shared_.ledger.update([](Ledger& now) {
      now.counts = {};
      now.trace.clear();
    });
  });
}

bool FaultProxy::wait_until(const std::function<bool(const Counts&)>& condition, milliseconds limit) const {
  return relay_->wait(limit, [&](const Ledger& now) { return condition(now.counts); });
}

int FaultProxy::open_connections() const {
  return relay_->ask([](const Ledger& now) { return now.open_connections; });
}

bool FaultProxy::wait_until_open_connections(int number, milliseconds limit) const {
  return relay_->wait(limit, [number](const Ledger& now) { return now.open_connections == number; });
}

void FaultProxy::observe(std::function<void(const Observed&)> observer) {
  relay_->run([relay = relay_.get(), observer = std::move(observer)]() mutable {
    relay->shared_.observer = std::move(observer);
  });
}

std::vector<Observed> FaultProxy::trace() const {
  return relay_->ask([](const Ledger& now) { return std::vector<Observed>(now.trace.begin(), now.trace.end()); });
}

}  // namespace zkrecipes::testing
