// SPDX-License-Identifier: Apache-2.0
// What the leases of the library rest on, asked of the model and of three real servers by the same tests.
#include <atomic>
#include <chrono>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "connection/zookeeper_handle.h"
#include "tests/simulation/model/ensemble.h"
#include "tests/support/fault_proxy.h"
#include "tests/support/test_server.h"

namespace zkrecipes::simulation {
namespace {

using detail::Request;
using detail::RequestKind;
using detail::Status;
using std::chrono::milliseconds;

constexpr milliseconds kTick{200};
constexpr milliseconds kTimeout = 6 * kTick;
constexpr int kSyncLimit = 25;

/// Three servers and the faults that these tests need.
class FactsHost {
 public:
  virtual ~FactsHost() = default;
  virtual std::unique_ptr<detail::Handle> open(int client, int server, detail::HandleSettings settings,
                                               const std::weak_ptr<detail::HandleListener>& listener) = 0;
  virtual int leader() = 0;
  virtual std::chrono::nanoseconds now() = 0;
  virtual bool wait(const std::function<bool()>& condition, milliseconds patience) = 0;
  /// Nothing passes between the client and its server.
  virtual void silence(int client, int server) = 0;
  /// Nothing passes between the server and the others.
  virtual void isolate(int server) = 0;
  virtual void heal() = 0;
  /// How much later than it could something may happen.
  virtual milliseconds slack() const = 0;
};

class RealServers final : public FactsHost {
 public:
  std::unique_ptr<detail::Handle> open(int client, int server, detail::HandleSettings settings,
                                       const std::weak_ptr<detail::HandleListener>& listener) override {
    auto& proxy = proxies_[client];
    proxy = std::make_unique<testing::FaultProxy>(servers_.address(server));
    settings.address = proxy->address();
    return detail::open_zookeeper_handle(settings, listener);
  }
  int leader() override { return servers_.leader(); }
  std::chrono::nanoseconds now() override { return std::chrono::steady_clock::now().time_since_epoch(); }
  bool wait(const std::function<bool()>& condition, milliseconds patience) override {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(milliseconds(1));
    }
    return true;
  }
  void silence(int client, int /*server*/) override { proxies_.at(client)->black_hole(); }
  void isolate(int server) override { servers_.isolate_silently(server); }
  void heal() override { servers_.heal(); }
  milliseconds slack() const override { return milliseconds(5'000); }

 private:
  static testing::ServerOptions options() {
    testing::ServerOptions options;
    options.tick_time = kTick;
    options.sync_limit = kSyncLimit;
    options.controlled_links = true;
    return options;
  }
  testing::TestEnsemble servers_{3, options()};
  std::map<int, std::unique_ptr<testing::FaultProxy>> proxies_;
};

class ModelServers final : public FactsHost {
 public:
  explicit ModelServers(ModelMistake mistake = ModelMistake::none) : ensemble_(scheduler_, trace_, options(mistake)) {
    wait([this] { return ensemble_.has_quorum(); }, milliseconds(10'000));
    scheduler_.run_until(scheduler_.now() + milliseconds(1'000));
  }
  std::unique_ptr<detail::Handle> open(int client, int server, detail::HandleSettings settings,
                                       const std::weak_ptr<detail::HandleListener>& listener) override {
    settings.address = ensemble_.address(server);
    auto& process = processes_[client];
    if (!process) process = std::make_unique<Process>(scheduler_, client);
    return ensemble_.connect(*process, settings, listener);
  }
  int leader() override { return ensemble_.leader(); }
  std::chrono::nanoseconds now() override { return scheduler_.now(); }
  bool wait(const std::function<bool()>& condition, milliseconds patience) override {
    const Time end = scheduler_.now() + patience;
    while (!condition())
      if (scheduler_.now() > end || !scheduler_.step()) return false;
    return true;
  }
  void silence(int client, int server) override {
    ensemble_.set_client_link(client, server, Ensemble::LinkFault::silent);
  }
  void isolate(int server) override {
    for (int other = 0; other < ensemble_.size(); ++other)
      if (other != server) ensemble_.set_server_link(server, other, Ensemble::LinkFault::silent);
  }
  void heal() override { ensemble_.heal_links(); }
  milliseconds slack() const override { return milliseconds(20); }

 private:
  static EnsembleOptions options(ModelMistake mistake) {
    EnsembleOptions options;
    options.mistake = mistake;
    options.tick = kTick;
    options.sync_limit = kSyncLimit;
    return options;
  }
  Scheduler scheduler_{3};
  Trace trace_{scheduler_};
  std::map<int, std::unique_ptr<Process>> processes_;
  Ensemble ensemble_;
};

class Client {
 public:
  Client(FactsHost& host, int number, int server, milliseconds timeout)
      : host_(host), server_(server), number_(number) {
    detail::HandleSettings settings;
    settings.session_timeout = timeout;
    handle_ = host.open(number, server, settings, log_);
    EXPECT_TRUE(host.wait([this] { return log_->connected.load(); }, milliseconds(20'000)));
  }

  std::uint64_t send(const Request& request) {
    const std::uint64_t number = handle_->next_request();
    EXPECT_EQ(Status::ok, handle_->issue(request, number));
    return number;
  }
  bool answered(std::uint64_t number, milliseconds patience) {
    return host_.wait([&] { return find(number).has_value(); }, patience);
  }
  std::optional<Status> find(std::uint64_t number) {
    std::lock_guard<std::mutex> lock(log_->mutex);
    const auto found = log_->replies.find(number);
    if (found == log_->replies.end()) return std::nullopt;
    return found->second;
  }
  /// `closed` when there is no answer in time.
  Status call(const Request& request, milliseconds patience = milliseconds(20'000)) {
    const std::uint64_t number = send(request);
    return answered(number, patience) ? *find(number) : Status::closed;
  }
  bool has_event() const { return log_->events.load() > 0; }
  void silence() { host_.silence(number_, server_); }

 private:
  struct Log final : detail::HandleListener {
    void on_session_event(std::uint32_t /*handle*/, detail::SessionEvent event) override {
      connected = event == detail::SessionEvent::connected;
    }
    void on_reply(std::uint64_t request, detail::Reply reply, bool /*answered*/) override {
      std::lock_guard<std::mutex> lock(mutex);
      replies[request] = reply.status;
    }
    void on_watch_event(std::uint32_t /*handle*/, const std::string& /*path*/, detail::WatchEvent /*event*/) override {
      ++events;
    }
    std::atomic<bool> connected{false};
    std::atomic<int> events{0};
    std::mutex mutex;
    std::map<std::uint64_t, Status> replies;  // guarded by mutex
  };
  FactsHost& host_;
  const int server_;
  const int number_;
  const std::shared_ptr<Log> log_ = std::make_shared<Log>();
  std::unique_ptr<detail::Handle> handle_;
};

Request create(const std::string& path, detail::CreateMode mode = detail::CreateMode::persistent) {
  Request request{RequestKind::create, path};
  request.mode = mode;
  return request;
}
Request impossible_set() {
  Request request{RequestKind::set, "/"};
  request.version = -2;
  return request;
}

enum class Where { model, real };

class EnsembleFacts : public ::testing::TestWithParam<Where> {
 protected:
  void SetUp() override {
    if (GetParam() == Where::model) {
      host_ = std::make_unique<ModelServers>();
    } else {
      if (testing::external_servers()) GTEST_SKIP() << "cannot do harm to servers of others";
      host_ = std::make_unique<RealServers>();
    }
  }
  FactsHost& host() { return *host_; }

 private:
  std::unique_ptr<FactsHost> host_;
};

// The leader learns of activity at a follower up to half a tick later, and looks at the end of a tick.
TEST_P(EnsembleFacts, ASilentSession_ExpiresBetweenItsTimeoutAndOneAndAHalfTicksLater) {
  std::vector<std::unique_ptr<Client>> silent;
  std::vector<std::unique_ptr<Client>> observers;
  std::vector<std::chrono::nanoseconds> begin;
  for (int server = 0; server < 3; ++server) {
    const std::string path = "/expires" + std::to_string(server);
    observers.push_back(std::make_unique<Client>(host(), 10 + server, (server + 1) % 3, milliseconds(10'000)));
    silent.push_back(std::make_unique<Client>(host(), server, server, kTimeout));
    ASSERT_EQ(Status::ok, silent.back()->call(create(path, detail::CreateMode::ephemeral)));
    ASSERT_EQ(Status::ok, observers.back()->call({RequestKind::sync, "/"}));
    Request watch{RequestKind::exists, path};
    watch.watch = true;
    ASSERT_EQ(Status::ok, observers.back()->call(watch));
    begin.push_back(host().now());
    ASSERT_EQ(Status::ok, silent.back()->call({RequestKind::exists, path}));
    silent.back()->silence();
  }
  std::vector<std::optional<std::chrono::nanoseconds>> end(3);
  ASSERT_TRUE(host().wait(
      [&] {
        for (std::size_t i = 0; i < 3; ++i)
          if (!end[i] && observers[i]->has_event()) end[i] = host().now();
        return end[0] && end[1] && end[2];
      },
      milliseconds(20'000)));
  for (std::size_t i = 0; i < 3; ++i) {
    const std::chrono::nanoseconds lasted = *end[i] - begin[i];
    EXPECT_GE(lasted.count(), std::chrono::nanoseconds(kTimeout).count()) << "at server " << i;
    EXPECT_LE(lasted.count(), std::chrono::nanoseconds(kTimeout + kTick * 3 / 2 + host().slack()).count());
  }
}

TEST_P(EnsembleFacts, ALeaderThatIsCutOff_AnswersSyncButNotARefusedWrite) {
  const int leader = host().leader();
  Client client(host(), 1, leader, milliseconds(4'000));
  ASSERT_EQ(Status::bad_version, client.call(impossible_set()));
  host().isolate(leader);
  EXPECT_EQ(Status::ok, client.call({RequestKind::sync, "/"}));
  EXPECT_EQ(Status::ok, client.call({RequestKind::exists, "/"}));
  const std::uint64_t write = client.send(impossible_set());
  const std::uint64_t behind = client.send({RequestKind::exists, "/"});
  EXPECT_FALSE(client.answered(write, milliseconds(700)));
  EXPECT_FALSE(client.find(behind));  // answers are in order
  host().heal();
  ASSERT_TRUE(client.answered(write, milliseconds(20'000)));
}

TEST_P(EnsembleFacts, AFollowerThatIsCutOff_ShowsOldDataAndAnswersNoSync) {
  const int leader = host().leader();
  const int follower = (leader + 1) % 3;
  Client reader(host(), 1, follower, milliseconds(4'000));
  Client writer(host(), 2, leader, milliseconds(4'000));
  host().isolate(follower);
  ASSERT_EQ(Status::ok, writer.call(create("/new")));
  EXPECT_EQ(Status::no_node, reader.call({RequestKind::exists, "/new"}));
  const std::uint64_t sync = reader.send({RequestKind::sync, "/"});
  EXPECT_FALSE(reader.answered(sync, milliseconds(700)));
  host().heal();
  ASSERT_TRUE(reader.answered(sync, milliseconds(20'000)));
}

// The second of these tests tells a wrong model from a right one.
TEST(WrongEnsembleFacts, AModelWhoseSyncNeedsAQuorum_DoesNotAnswerIt) {
  ModelServers host(ModelMistake::sync_needs_quorum);
  Client client(host, 1, host.leader(), milliseconds(4'000));
  host.isolate(host.leader());
  EXPECT_EQ(Status::closed, client.call({RequestKind::sync, "/"}, milliseconds(700)));
}

INSTANTIATE_TEST_SUITE_P(Of, EnsembleFacts, ::testing::Values(Where::model, Where::real),
                         [](const auto& run) { return run.param == Where::model ? "Model" : "RealServers"; });

}  // namespace
}  // namespace zkrecipes::simulation
