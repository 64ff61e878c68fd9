// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fault_proxy.h"

// GCC's ThreadSanitizer does not know fences, and Asio needs none here: its queue's mutex orders what handlers do.
#if defined(__SANITIZE_THREAD__) && !defined(BOOST_ASIO_DISABLE_FENCED_BLOCK)
#define BOOST_ASIO_DISABLE_FENCED_BLOCK
#endif

#include <algorithm>
#include <array>
#include <boost/asio.hpp>
#include <charconv>
#include <condition_variable>
#include <deque>
#include <future>
#include <glog/logging.h>
#include <mutex>
#include <numeric>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <thread>
#include <utility>

namespace zkrecipes::testing {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t kReadBytes = 64 * 1024;
constexpr milliseconds kPauseAfterFailedAccept{10};

struct Fault {
  enum class Action { drop_reply, cut_half_way, cut_before, hold_reply };
  Action action;
  RequestKind kind;
  int to_go;  // requests of the kind up to and with the one to hit; 0 or less: the next
};

/// Decides which request is hit by which fault.
class FaultPlan {
 public:
  void arm(Fault fault) { waiting_.push_back(fault); }
  void arm_again(Fault fault) { waiting_.push_front(fault); }
  void clear() { waiting_.clear(); }

  std::optional<Fault> take_for(RequestKind kind) {
    auto hit = waiting_.end();
    for (auto fault = waiting_.begin(); fault != waiting_.end(); ++fault) {
      if (fault->kind == kind && --fault->to_go <= 0 && hit == waiting_.end()) {
        hit = fault;
      }
    }
    if (hit == waiting_.end()) {
      return std::nullopt;
    }
    const Fault taken = *hit;
    waiting_.erase(hit);
    return taken;
  }

 private:
  std::deque<Fault> waiting_;
};

struct Conditions {
  bool black_to_server = false;
  bool black_to_client = false;
  milliseconds delay{0};
  bool single_bytes = false;
  bool never_answer = false;
};

/// What tests may ask and wait for from their own threads.
class Ledger {
 public:
  template <class Change>
  void update(Change change) {
    {
      const std::lock_guard<std::mutex> guard(mutex_);
      change(*this);
    }
    changed_.notify_all();
  }

  template <class Question>
  auto ask(Question question) const {
    const std::lock_guard<std::mutex> guard(mutex_);
    return question(*this);
  }

  template <class Condition>
  bool wait(milliseconds limit, Condition condition) const {
    std::unique_lock<std::mutex> guard(mutex_);
    return changed_.wait_until(guard, Clock::now() + limit, [&] { return condition(*this); });
  }

  // guarded by mutex_: for use inside update, ask and wait
  FaultProxy::Counts counts;
  std::deque<Observed> trace;
  int armed = 0;
  int open_connections = 0;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
};

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

/// Closes with FIN. What the peer has sent is read first, for closing over unread bytes would send RST.
void close_gracefully(tcp::socket& socket) {
  error_code ignored;
  socket.shutdown(tcp::socket::shutdown_both, ignored);
  socket.non_blocking(true, ignored);
  std::array<char, 4096> unread{};
  error_code end;
  while (!end && socket.is_open()) {
    socket.read_some(asio::buffer(unread), end);
  }
  socket.close(ignored);
}

void close_with_reset(tcp::socket& socket) {
  error_code ignored;
  socket.set_option(asio::socket_base::linger(true, 0), ignored);
  socket.close(ignored);
}

/// What the connections of one proxy share. Used on the proxy's thread only, but for the ledger.
struct Shared {
  Conditions conditions;
  FaultPlan plan;
  std::function<void(const Observed&)> observer;
  Ledger ledger;

  void saw(Message message, long connection);
  void fired() {
    ledger.update([](Ledger& now) { --now.armed; });
  }
};

void Shared::saw(Message message, long connection) {
  Observed observed{std::move(message), connection, Clock::now()};
  ledger.update([&](Ledger& now) {
    switch (observed.sort) {
      case Message::Sort::request:
        ++now.counts.requests[observed.kind];
        break;
      case Message::Sort::reply:
        ++now.counts.replies;
        break;
      case Message::Sort::watch_event:
        ++now.counts.watch_events;
        break;
    }
    if (now.trace.size() == FaultProxy::kTraceLength) {
      now.trace.pop_front();
    }
    now.trace.push_back(observed);
  });
  if (observer) {
    observer(observed);
  }
}

/// One way through a connection.
struct Lane {
  Lane(tcp::socket& from, tcp::socket& to, bool leads_to_server)
      : source(from), sink(to), to_server(leads_to_server), timer(from.get_executor()), room(kReadBytes) {}

  struct Chunk {
    std::string bytes;
    Clock::time_point due;
    bool held = false;
    std::size_t delivered = 0;
  };

  // constant after construction
  tcp::socket& source;
  tcp::socket& sink;
  const bool to_server;

  FrameSplitter splitter;
  std::deque<Chunk> queue;
  asio::steady_timer timer;  // for the first chunk to become due
  std::vector<char> room;
  std::string in_write;
  bool writing = false;
  bool last = false;      // close the connection when the queue is empty
  bool dead_end = false;  // the sink is gone: nothing more can be delivered
  bool dried_up = false;  // the source is gone
};

/// A client's connection and the one to the server that belongs to it. Lives until closed and its handlers
/// have run.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Shared& shared, long number, tcp::socket client)
      : shared_(shared), number_(number), client_(std::move(client)), server_(client_.get_executor()) {
    error_code ignored;
    client_.set_option(tcp::no_delay(true), ignored);
  }

  void start(const tcp::endpoint& upstream);
  void close(void (*how)(tcp::socket&) = close_gracefully);
  void black_hole_begins();
  void release_held();
  void forget_faults() { faults_.clear(); }

  bool is_closed() const { return closed_; }
  bool has_holes() const { return has_holes_; }
  bool is_started() const { return started_; }

 private:
  void read(Lane& lane);
  void take_frames(Lane& lane);
  void take_request(std::string_view frame);
  void take_reply(std::string_view frame);
  void source_ended(Lane& lane);
  void finish(Lane& lane);
  void enqueue(Lane& lane, std::string_view bytes, bool held = false);
  void pump(Lane& lane);
  void write(Lane& lane, std::string bytes);
  bool is_black(const Lane& lane) const {
    return lane.to_server ? shared_.conditions.black_to_server : shared_.conditions.black_to_client;
  }
  Lane& opposite(const Lane& lane) { return lane.to_server ? to_client_ : to_server_; }
  void close_socket(tcp::socket& socket, void (*how)(tcp::socket&));

  Shared& shared_;
  const long number_;
  tcp::socket client_;
  tcp::socket server_;
  Lane to_server_{client_, server_, true};
  Lane to_client_{server_, client_, false};
  Conversation conversation_;
  std::map<long, Fault> faults_;  // by the ordinal of the request whose reply they wait for
  bool started_ = false;
  bool has_holes_ = false;
  bool ending_ = false;  // one side is closed, the other gets what is on its way
  bool closed_ = false;
};

void Connection::start(const tcp::endpoint& upstream) {
  started_ = true;
  has_holes_ = shared_.conditions.black_to_server || shared_.conditions.black_to_client;
  server_.async_connect(upstream, [this, self = shared_from_this()](error_code failed) {
    if (closed_) {
      return;
    }
    if (failed) {
      source_ended(to_client_);
    } else {
      error_code ignored;
      server_.set_option(tcp::no_delay(true), ignored);
      read(to_client_);
    }
    if (!closed_ && !ending_) {
      read(to_server_);
    }
  });
}

void Connection::read(Lane& lane) {
  lane.source.async_read_some(asio::buffer(lane.room),
                              [this, &lane, self = shared_from_this()](error_code failed, std::size_t bytes) {
                                if (closed_ || ending_ || lane.dried_up) {
                                  return;
                                }
                                if (failed) {
                                  source_ended(lane);
                                  return;
                                }
                                lane.splitter.append({lane.room.data(), bytes});
                                take_frames(lane);
                                if (!closed_ && !ending_) {
                                  pump(lane);
                                  read(lane);
                                }
                              });
}

void Connection::take_frames(Lane& lane) {
  try {
    while (!closed_ && !ending_) {
      const std::optional<std::string_view> frame = lane.splitter.next();
      if (!frame) {
        return;
      }
      if (lane.to_server) {
        take_request(*frame);
      } else {
        take_reply(*frame);
      }
    }
  } catch (const MalformedFrame& malformed) {
    LOG(WARNING) << "fault proxy closes connection " << number_ << ": " << malformed.what()
                 << (lane.to_server ? " from the client" : " from the server");
    close();
  }
}

void Connection::take_request(std::string_view frame) {
  const Message request = conversation_.request(frame);
  shared_.saw(request, number_);
  if (is_black(to_server_)) {
    return;
  }
  const std::optional<Fault> fault = shared_.plan.take_for(request.kind);
  if (!fault) {
    enqueue(to_server_, frame);
    return;
  }
  switch (fault->action) {
    case Fault::Action::drop_reply:
    case Fault::Action::hold_reply:
      faults_.emplace(request.ordinal, *fault);
      enqueue(to_server_, frame);
      break;
    case Fault::Action::cut_half_way:
      enqueue(to_server_, frame.substr(0, frame.size() / 2));
      finish(to_server_);
      shared_.fired();
      break;
    case Fault::Action::cut_before:
      finish(to_server_);
      shared_.fired();
      break;
  }
}

void Connection::take_reply(std::string_view frame) {
  const Message reply = conversation_.reply(frame);
  shared_.saw(reply, number_);
  if (is_black(to_client_)) {
    return;
  }
  const auto fault = faults_.find(reply.ordinal);
  if (fault == faults_.end()) {
    enqueue(to_client_, frame);
    return;
  }
  const Fault::Action action = fault->second.action;
  faults_.erase(fault);
  if (action == Fault::Action::drop_reply) {
    finish(to_client_);
  } else {
    enqueue(to_client_, frame, true);
  }
  shared_.fired();
}

void Connection::source_ended(Lane& lane) {
  if (!is_black(lane)) {
    finish(lane);
    return;
  }
  lane.dried_up = true;
  Lane& back = opposite(lane);
  back.dead_end = true;
  back.queue.clear();
  close_socket(lane.source, close_gracefully);
  if (back.dried_up) {
    close();
  }
}

/// Ends the connection: at once towards the lane's source, and towards its sink behind what is already in the
/// lane.
void Connection::finish(Lane& lane) {
  ending_ = true;
  Lane& back = opposite(lane);
  back.dead_end = true;
  back.queue.clear();
  close_socket(lane.source, close_gracefully);
  lane.last = true;
  pump(lane);
}

void Connection::enqueue(Lane& lane, std::string_view bytes, bool held) {
  if (lane.dead_end) {
    return;
  }
  const milliseconds delay = shared_.conditions.delay;
  Clock::time_point due = delay.count() > 0 ? Clock::now() + delay : Clock::time_point::min();
  if (!lane.queue.empty()) {
    due = std::max(due, lane.queue.back().due);
    if (due == lane.queue.back().due && !held) {
      lane.queue.back().bytes.append(bytes);
      return;
    }
  }
  lane.queue.push_back({std::string(bytes), due, held});
}

void Connection::pump(Lane& lane) {
  if (closed_ || lane.writing) {
    return;
  }
  if (is_black(lane)) {
    lane.queue.clear();
    return;
  }
  if (lane.queue.empty() || lane.dead_end) {
    if (lane.last) {
      close();
    }
    return;
  }
  Lane::Chunk& first = lane.queue.front();
  if (first.held) {
    return;
  }
  if (first.due > Clock::now()) {
    lane.timer.expires_at(first.due);
    lane.timer.async_wait([this, &lane, self = shared_from_this()](error_code cancelled) {
      if (!cancelled) {
        pump(lane);
      }
    });
    return;
  }
  const std::size_t most = shared_.conditions.single_bytes ? 1 : std::string::npos;
  std::string bytes = first.bytes.substr(first.delivered, most);
  first.delivered += bytes.size();
  if (first.delivered == first.bytes.size()) {
    lane.queue.pop_front();
  }
  write(lane, std::move(bytes));
}

void Connection::write(Lane& lane, std::string bytes) {
  lane.in_write = std::move(bytes);
  lane.writing = true;
  shared_.ledger.update([&](Ledger& now) {
    (lane.to_server ? now.counts.bytes_to_server : now.counts.bytes_to_client) +=
        static_cast<long>(lane.in_write.size());
  });
  asio::async_write(lane.sink, asio::buffer(lane.in_write),
                    [this, &lane, self = shared_from_this()](error_code failed, std::size_t) {
                      lane.writing = false;
                      if (failed) {
                        lane.dead_end = true;  // that the sink is gone is noticed by the lane that reads from it
                        lane.queue.clear();
                      }
                      pump(lane);
                    });
}

void Connection::black_hole_begins() {
  has_holes_ = true;
  for (Lane* lane : {&to_server_, &to_client_}) {
    if (is_black(*lane)) {
      lane->queue.clear();
    }
  }
}

void Connection::release_held() {
  for (Lane::Chunk& chunk : to_client_.queue) {
    chunk.held = false;
  }
  pump(to_client_);
}

void Connection::close_socket(tcp::socket& socket, void (*how)(tcp::socket&)) {
  if (!socket.is_open()) {
    return;
  }
  how(socket);
  if (&socket == &client_) {
    shared_.ledger.update([](Ledger& now) { --now.open_connections; });
  }
}

void Connection::close(void (*how)(tcp::socket&)) {
  if (std::exchange(closed_, true)) {
    return;
  }
  to_server_.timer.cancel();
  to_client_.timer.cancel();
  close_socket(client_, how);
  close_socket(server_, how);
  std::for_each(faults_.rbegin(), faults_.rend(), [this](const auto& entry) { shared_.plan.arm_again(entry.second); });
  faults_.clear();
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

  void arm(Fault::Action action, RequestKind kind, int nth);
  void refuse(bool on);
  void never_answer(bool on);
  template <class Choice>
  void close_if(Choice choice, void (*how)(tcp::socket&) = close_gracefully);

  asio::io_context io_{1};
  Shared shared_;
  tcp::endpoint upstream_;
  tcp::endpoint address_;  // constant after construction
  std::vector<std::shared_ptr<Connection>> connections_;

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
  port_keeper_.set_option(tcp::acceptor::reuse_address(true));
  port_keeper_.bind(any_port);
  address_ = port_keeper_.local_endpoint();
  listen();
  thread_ = std::thread([this] { io_.run(); });
}

FaultProxy::Relay::~Relay() {
  io_.stop();
  thread_.join();
  close_if([](const Connection&) { return true; });
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

void FaultProxy::Relay::arm(Fault::Action action, RequestKind kind, int nth) {
  if (nth < 1) {
    throw std::invalid_argument("a fault needs nth >= 1, not " + std::to_string(nth));
  }
  run([this, fault = Fault{action, kind, nth}] {
    shared_.plan.arm(fault);
    shared_.ledger.update([](Ledger& now) { ++now.armed; });
  });
}

void FaultProxy::Relay::refuse(bool on) {
  if (on) {
    stop_listening();
    close_if([](const Connection&) { return true; });
  } else if (!listener_.is_open()) {
    listen();
  }
}

void FaultProxy::Relay::never_answer(bool on) {
  shared_.conditions.never_answer = on;
  if (!on) {
    close_if([](const Connection& connection) { return !connection.is_started(); });
  }
}

void FaultProxy::Relay::listen() {
  try {
    listener_.open(address_.protocol());
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
  close_if([](const Connection& connection) { return connection.is_closed(); });
  const auto connection = std::make_shared<Connection>(shared_, ++accepted_, std::move(client));
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
  relay_->run([relay = relay_.get()] { relay->close_if([](const Connection&) { return true; }); });
}

void FaultProxy::reset() {
  relay_->run([relay = relay_.get()] { relay->close_if([](const Connection&) { return true; }, close_with_reset); });
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
    relay->close_if([](const Connection& connection) { return connection.has_holes(); });
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
