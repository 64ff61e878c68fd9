// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <deque>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "connection/zookeeper_client.h"
#include "recipes/hold.h"

namespace zkrecipes::detail {
namespace {

using namespace std::chrono_literals;

/// Keeps tasks until the test lets them run.
class ManualLane final : public Lane {
 public:
  explicit ManualLane(const Clock::time_point& now) : now_(now) {}

  void post(std::function<void()> task) override {
    if (std::exchange(fails_, false)) throw std::bad_alloc();
    tasks_.push_back(std::move(task));
  }
  void post_at(Clock::time_point time, std::function<void()> task) override { timed_.emplace(time, std::move(task)); }
  bool on_this_thread() const noexcept override { return false; }
  void drain() override {
    while (!tasks_.empty() || !timed_.empty()) {
      run_due();
      if (!timed_.empty()) run_first_timer();
    }
  }
  void finish() override { run_due(); }
  void finish_soon() override {}
  std::uint64_t posted() const override { return 0; }
  void stop(Rest rest) override {
    if (rest == Rest::run) run_due();
    tasks_.clear();
    timed_.clear();
  }

  void fail_once() { fails_ = true; }
  void run_due() {
    for (;;) {
      if (!tasks_.empty()) {
        const auto task = std::move(tasks_.front());
        tasks_.pop_front();
        task();
      } else if (!timed_.empty() && timed_.begin()->first <= now_) {
        run_first_timer();
      } else {
        return;
      }
    }
  }

 private:
  void run_first_timer() {
    const auto task = std::move(timed_.begin()->second);
    timed_.erase(timed_.begin());
    task();
  }

  const Clock::time_point& now_;
  bool fails_ = false;
  std::deque<std::function<void()>> tasks_;
  std::multimap<Clock::time_point, std::function<void()>> timed_;
};

class ManualLatch final : public Latch {
 public:
  explicit ManualLatch(std::function<void()> while_waiting) : while_waiting_(std::move(while_waiting)) {}
  void set() override { set_ = true; }
  bool wait_for(std::chrono::milliseconds /*patience*/) override {
    while_waiting_();
    return set_;
  }

 private:
  const std::function<void()> while_waiting_;
  bool set_ = false;
};

/// Time stands still unless the test moves it.
class ManualWorld final : public World {
 public:
  Clock::time_point now() const noexcept override { return now_; }
  LeaseClock::time_point lease_now() const noexcept override { return LeaseClock::time_point(now_.time_since_epoch()); }
  double random() override { return 0.5; }
  std::string make_guid() override { return "guid"; }
  std::unique_ptr<Lane> make_lane(const std::string& name) override {
    auto lane = std::make_unique<ManualLane>(now_);
    lanes_[name] = lane.get();
    return lane;
  }
  std::shared_ptr<Latch> make_latch() override {
    return std::make_shared<ManualLatch>([this] { while_waiting(); });
  }
  std::vector<std::string> resolve(const std::vector<HostPort>& /*hosts*/, std::string& /*problem*/) override {
    return {};
  }
  std::unique_ptr<Handle> open_handle(const HandleSettings& /*settings*/,
                                      const std::weak_ptr<HandleListener>& /*listener*/) override {
    return nullptr;
  }

  void pass(Clock::duration time) { now_ += time; }
  void run_loop() { lane("zkr-loop").run_due(); }
  ManualLane& lane(const std::string& name) { return *lanes_.at(name); }

  std::function<void()> while_waiting = [] {};

 private:
  Clock::time_point now_{1000s};
  std::map<std::string, ManualLane*> lanes_;
};

/// The program's handle, played by the test. Outlives what the client does with it.
struct PlayedHandle {
  SessionEvent state = SessionEvent::connected;
  std::vector<std::pair<std::uint64_t, Request>> unanswered;
};

class BorrowedPlayedHandle final : public Handle {
 public:
  explicit BorrowedPlayedHandle(PlayedHandle& played) : played_(played) {}

  std::uint32_t number() const noexcept override { return 7; }
  bool borrowed() const noexcept override { return true; }
  std::uint64_t next_request() noexcept override { return ++last_request_; }
  Status issue(const Request& request, std::uint64_t number) override {
    played_.unanswered.emplace_back(number, request);
    return Status::ok;
  }
  SessionEvent state() const override { return played_.state; }
  bool was_refused() const override { return false; }
  std::int64_t session_id() const override { return 42; }
  std::chrono::milliseconds session_timeout() const override { return 4s; }
  SessionKey hand_session_over() override { return {}; }
  Status listen_for_session_events(std::uint64_t number) override {
    played_.unanswered.emplace_back(number, Request{RequestKind::exists, "/"});
    return Status::ok;
  }
  void close() noexcept override {}

 private:
  PlayedHandle& played_;
  std::uint64_t last_request_ = 0;
};

class BorrowedSessionTest : public ::testing::Test {
 protected:
  BorrowedSessionTest() {
    ConnectionOptions options;
    options.servers = "the program's own handle";
    options.log = [this](LogSeverity, const std::string& line) { log_.push_back(line); };
    client_ = ZookeeperClient::borrow(
        [this](const std::weak_ptr<HandleListener>&) { return std::make_unique<BorrowedPlayedHandle>(handle_); },
        options, world_);
    pass(1ms);
    answer_all();
    EXPECT_TRUE(client_->is_connected());
  }
  ~BorrowedSessionTest() override {
    world_->while_waiting = [this] { answer_all(); };
    client_->close();
  }

  void pass(Clock::duration time) {
    world_->pass(time);
    world_->run_loop();
  }
  void report(SessionEvent event) {
    handle_.state = event;
    client_->on_session_event(7, event);
  }
  /// Of this kind: the status. Others are answered with ok and nothing in them.
  void answer_all(std::optional<RequestKind> kind = {}, Status status = Status::ok) {
    while (!handle_.unanswered.empty()) {
      const auto [number, request] = handle_.unanswered.front();
      handle_.unanswered.erase(handle_.unanswered.begin());
      answered_.push_back(request);
      Reply reply;
      if (request.kind == kind) reply.status = status;
      if (request.kind == RequestKind::list && reply.status == Status::ok) reply.children = listing_;
      client_->on_reply(number, reply, reply.status != Status::connection_loss);
    }
    world_->run_loop();
  }
  bool was_removed(const std::string& path) const {
    return std::any_of(answered_.begin(), answered_.end(), [&](const Request& request) {
      return request.kind == RequestKind::remove && request.path == path;
    });
  }

  PlayedHandle handle_;
  std::vector<std::string> log_;
  std::vector<Request> answered_;
  NameList listing_;
  const std::shared_ptr<ManualWorld> world_ = std::make_shared<ManualWorld>();
  std::shared_ptr<ZookeeperClient> client_;
};

TEST_F(BorrowedSessionTest, ASessionThatComesBackAfterItsLeaseButBeforeAnybodyNoticed_IsUsable) {
  const SessionPtr before = client_->current_session();
  report(SessionEvent::disconnected);
  world_->pass(3500ms);  // the lease of 3 s is over, and the loop has not run
  report(SessionEvent::connected);
  const SessionPtr after = client_->current_session();
  ASSERT_TRUE(after);
  EXPECT_NE(after, before);
  EXPECT_TRUE(before->is_over());
  std::optional<Status> status;
  client_->exists(after, "/a", [&](const Reply& reply) { status = reply.status; });
  answer_all();
  EXPECT_EQ(status, Status::ok);
}

TEST_F(BorrowedSessionTest, ACreateInDoubt_IsLookedForAgainWhenTheConnectionIsLostDuringTheLook) {
  CreateSpec spec;
  spec.parent = "/locks";
  spec.name = "_c_guid-lock-";
  spec.guid = "guid";
  client_->create(client_->current_session(), spec, [](Status, const CreatedNode&) {});
  handle_.unanswered.clear();  // the answer is lost
  report(SessionEvent::disconnected);
  pass(3500ms);  // the lease is over
  report(SessionEvent::connected);
  pass(1ms);
  answer_all(RequestKind::list, Status::connection_loss);
  listing_ = {"_c_guid-lock-0000000001"};
  for (int n = 0; n < 50 && !was_removed("/locks/_c_guid-lock-0000000001"); ++n) {
    pass(100ms);
    answer_all();
  }
  EXPECT_TRUE(was_removed("/locks/_c_guid-lock-0000000001"));
}

TEST_F(BorrowedSessionTest, AClose_WaitsForTheAnswerToAWatchBeforeItTakesTheWatchOff) {
  client_->watch_node(
      client_->current_session(), "/a", [](WatchEvent) {}, [](const Reply&) {});
  bool answered_first = false;
  world_->while_waiting = [&] {
    answered_first = std::none_of(handle_.unanswered.begin(), handle_.unanswered.end(),
                                  [](const auto& one) { return one.second.kind == RequestKind::unwatch_data; });
    answer_all();
  };
  client_->close();
  EXPECT_TRUE(answered_first);
  EXPECT_TRUE(std::any_of(handle_.unanswered.begin(), handle_.unanswered.end(),
                          [](const auto& one) { return one.second.kind == RequestKind::unwatch_data; }));
}

TEST_F(BorrowedSessionTest, HowLongTheHandleWasIdleBeforeWeCame_IsNotKnownSoTheFirstLeaseHasToBeProved) {
  const auto attached = world_->lease_now();
  const SessionPtr session = client_->current_session();
  EXPECT_FALSE(session->lease().covers(attached)) << "the leader may not have heard of the session for long";
  EXPECT_TRUE(session->contact().covers(attached));
  std::optional<Status> proved;
  client_->prove(session, "/a", [&](Status status) { proved = status; });
  const auto began = world_->lease_now();
  int requests = 0;
  while (!proved && world_->lease_now() - began < 4s) {
    requests += static_cast<int>(handle_.unanswered.size());
    answer_all();
    pass(10ms);
  }
  ASSERT_EQ(proved, Status::ok);
  EXPECT_TRUE(session->lease().covers(world_->lease_now()));
  EXPECT_GE(world_->lease_now() - began, 4000ms / 6) << "no request can have been reported to the leader before";
  EXPECT_LE(world_->lease_now() - began, 4000ms / 3);
  EXPECT_LE(session->lease().valid_until(), began + 3800ms) << "counted from the first request we sent";
  EXPECT_LT(requests, 40) << "nobody is hammered meanwhile";
}

TEST_F(BorrowedSessionTest, AfterAReconnect_TheLeaseCountsFromTheNewestRequestThatWasAnsweredBefore) {
  const SessionPtr session = client_->current_session();
  LeaseClock::time_point newest;
  for (int n = 0; n < 400; ++n) {
    newest = handle_.unanswered.empty() ? newest : world_->lease_now();
    answer_all();
    pass(10ms);
  }
  handle_.unanswered.clear();
  report(SessionEvent::disconnected);
  pass(1s);
  report(SessionEvent::connected);
  ASSERT_EQ(client_->current_session(), session);
  client_->prove(session, "/a", [](Status) {});
  answer_all();
  EXPECT_LE(session->lease().valid_until(), newest + 3800ms) << "when the handle was connected again is not known";
}

TEST_F(BorrowedSessionTest, AStateThatCouldNotBeReportedForLackOfMemory_IsReportedByTheNextTick) {
  std::vector<ConnectionState> seen;
  const Subscription subscription = client_->on_state_change([&](ConnectionState state) { seen.push_back(state); });
  report(SessionEvent::disconnected);
  world_->lane("zkr-state").fail_once();
  pass(3500ms);  // the contact is over
  pass(1s);
  world_->lane("zkr-state").run_due();
  EXPECT_EQ(seen, (std::vector<ConnectionState>{ConnectionState::suspended, ConnectionState::lost}));
}

TEST_F(BorrowedSessionTest, AHoldMadeAfterTheEndOfItsSession_IsLostThroughTheLoop) {
  Grant grant;
  grant.client = client_;
  grant.session = client_->current_session();
  grant.node = "/a";
  grant.session->announce_over(world_->lease_now());
  const auto held = HeldNode::make(grant);
  EXPECT_TRUE(log_.empty()) << "whoever makes it may have a mutex locked";
  EXPECT_FALSE(held->is_valid());
  world_->run_loop();
  EXPECT_EQ(log_.size(), 1u);
}

}  // namespace
}  // namespace zkrecipes::detail
