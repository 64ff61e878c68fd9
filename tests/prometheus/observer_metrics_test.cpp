// SPDX-License-Identifier: Apache-2.0
// Which event changes which metric, without a server.
#include <cmath>
#include <gtest/gtest.h>
#include <prometheus/counter.h>
#include <thread>

#include "tests/prometheus/scrape.h"
#include "zkrecipes/prometheus.h"
#include "zkrecipes/zkrecipes.h"

namespace zkrecipes::testing {
namespace {

using namespace std::chrono_literals;

std::shared_ptr<const LockInfo> lock_named(const std::string& name, LockMode mode = LockMode::exclusive) {
  return std::make_shared<const LockInfo>(LockInfo{"/path", name, LockKind::mutex, mode});
}

template <class Event>
Event event(std::uint64_t id, const std::shared_ptr<const LockInfo>& lock) {
  Event made;
  made.id = id;
  made.lock = lock;
  return made;
}

class ObserverMetricsTest : public ::testing::Test {
 protected:
  Scrape scrape() const { return scrape_of(*registry_); }
  std::shared_ptr<PrometheusObserver> make(PrometheusOptions options = {}) {
    return std::make_shared<PrometheusObserver>(registry_, std::move(options));
  }
  const std::shared_ptr<prometheus::Registry>& registry() const { return registry_; }

 private:
  const std::shared_ptr<prometheus::Registry> registry_ = std::make_shared<prometheus::Registry>();
};

TEST_F(ObserverMetricsTest, MetricsOfTheConnection_AreThereFromTheStart) {
  const auto observer = make();
  EXPECT_EQ(scrape().value("zkrecipes_session_expirations_total"), 0);
  EXPECT_EQ(scrape().value("zkrecipes_reconnects_total", {{"session", "new"}}), 0);
  EXPECT_EQ(scrape().value("zkrecipes_connected"), 0);
}

TEST_F(ObserverMetricsTest, AWaiter_CountsUntilItsAttemptEnds) {
  const auto observer = make();
  const auto lock = lock_named("a");
  observer->on_waiting(event<LockWaiting>(1, lock));
  observer->on_waiting(event<LockWaiting>(1, lock));  // again, after a lost session
  observer->on_waiting(event<LockWaiting>(2, lock));
  EXPECT_EQ(scrape().value("zkrecipes_waiters", {{"lock", "a"}}), 2);
  auto timed_out = event<LockNotAcquired>(1, lock);
  timed_out.status = AcquireStatus::timed_out;
  observer->on_not_acquired(timed_out);
  observer->on_acquired(event<LockAcquired>(2, lock));
  observer->on_acquired(event<LockAcquired>(3, lock));
  EXPECT_EQ(scrape().value("zkrecipes_waiters", {{"lock", "a"}}), 0);
  EXPECT_EQ(scrape().value("zkrecipes_acquires_total", {{"lock", "a"}, {"result", "timed_out"}}), 1);
  EXPECT_EQ(scrape().value("zkrecipes_acquires_total", {{"lock", "a"}, {"result", "granted"}}), 2);
  EXPECT_EQ(scrape().value("zkrecipes_holds", {{"lock", "a"}}), 2);
}

TEST_F(ObserverMetricsTest, ADowngrade_IsAHoldAndNoAcquire) {
  const auto observer = make();
  const auto lock = lock_named("a", LockMode::read);
  auto read = event<LockAcquired>(1, lock);
  read.downgraded = true;
  observer->on_acquired(read);
  EXPECT_EQ(scrape().value("zkrecipes_holds", {{"lock", "a"}, {"mode", "read"}}), 1);
  EXPECT_EQ(scrape().value("zkrecipes_acquires_total", {{"lock", "a"}}), 0);
}

TEST_F(ObserverMetricsTest, NamesBeyondTheLimit_AreCountedTogether) {
  PrometheusOptions options;
  options.max_lock_names = 2;
  const auto observer = make(options);
  for (const char* name : {"a", "b", "c", "d", "", "a"})
    observer->on_acquired(event<LockAcquired>(1, lock_named(name)));
  EXPECT_EQ(scrape().value("zkrecipes_holds", {{"lock", "a"}}), 2);
  EXPECT_EQ(scrape().value("zkrecipes_holds", {{"lock", "b"}}), 1);
  EXPECT_EQ(scrape().value("zkrecipes_holds", {{"lock", "other"}}), 2);
  EXPECT_EQ(scrape().value("zkrecipes_holds", {{"lock", "unnamed"}}), 1);
  EXPECT_FALSE(scrape().has("zkrecipes_holds", {{"lock", "c"}}));
}

TEST_F(ObserverMetricsTest, LocksWithoutAName_TakeNoNameAway) {
  PrometheusOptions options;
  options.max_lock_names = 2;
  const auto observer = make(options);
  for (const char* name : {"", "a", "b"}) observer->on_acquired(event<LockAcquired>(1, lock_named(name)));
  EXPECT_EQ(scrape().value("zkrecipes_holds", {{"lock", "b"}}), 1);
  EXPECT_FALSE(scrape().has("zkrecipes_holds", {{"lock", "other"}}));
}

TEST_F(ObserverMetricsTest, ARegistryThatThrowsForAKnownName_TakesOneObserver) {
  using prometheus::Registry;
  const auto strict = std::make_shared<Registry>(Registry::InsertBehavior::Throw);
  EXPECT_NO_THROW(PrometheusObserver{strict});
  EXPECT_THROW(PrometheusObserver{strict}, std::invalid_argument);
}

TEST_F(ObserverMetricsTest, ALock_CostsAsManySeriesAsTheHeaderSays) {
  const auto observer = make();
  const std::size_t before = scrape().size();
  observer->on_acquired(event<LockAcquired>(1, lock_named("a")));
  EXPECT_NEAR(static_cast<double>(scrape().size() - before), 80, 10);
}

TEST_F(ObserverMetricsTest, ConnectionsWithLabels_AreToldApartAndOthersAddedUp) {
  PrometheusOptions labels;
  labels.labels = {{"connection", "orders"}};
  const auto orders = make(labels);
  const auto more_orders = make(labels);
  labels.labels = {{"connection", "billing"}};
  const auto billing = make(labels);
  for (const auto& one : {orders, more_orders, billing})
    one->on_state_changed({ConnectionState::connected, ConnectionState::connecting, 1});
  EXPECT_EQ(scrape().value("zkrecipes_connected", {{"connection", "orders"}}), 2);
  EXPECT_EQ(scrape().value("zkrecipes_connected", {{"connection", "billing"}}), 1);
  HeartbeatAnswered beat;
  beat.requests_in_flight = 3;
  orders->on_heartbeat(beat);
  beat.requests_in_flight = 2;
  more_orders->on_heartbeat(beat);
  orders->on_heartbeat(beat);
  EXPECT_EQ(scrape().value("zkrecipes_requests_in_flight", {{"connection", "orders"}}), 4);
  orders->on_state_changed({ConnectionState::closed, ConnectionState::connected, 1});
  EXPECT_EQ(scrape().value("zkrecipes_requests_in_flight", {{"connection", "orders"}}), 2);
  EXPECT_EQ(scrape().value("zkrecipes_connected", {{"connection", "orders"}}), 1);
}

TEST_F(ObserverMetricsTest, TheLeaseMargin_IsNoNumberWithoutHolds) {
  const auto observer = make();
  HeartbeatAnswered beat;
  beat.round_trip = 2ms;
  observer->on_heartbeat(beat);
  EXPECT_TRUE(std::isnan(scrape().value("zkrecipes_lease_margin_seconds")));
  beat.lease_left = 4s;
  observer->on_heartbeat(beat);
  EXPECT_EQ(scrape().value("zkrecipes_lease_margin_seconds"), 4);
  EXPECT_EQ(scrape().value("zkrecipes_heartbeat_lease_margin_seconds_count"), 1);
  EXPECT_EQ(scrape().value("zkrecipes_heartbeat_seconds_bucket", {{"le", "0.0025"}}), 2);
}

TEST_F(ObserverMetricsTest, TheLeaseMargin_IsNoNumberOnceTheSessionIsLost) {
  const auto observer = make();
  HeartbeatAnswered beat;
  beat.lease_left = 4s;
  observer->on_heartbeat(beat);
  observer->on_state_changed({ConnectionState::lost, ConnectionState::suspended, 1});
  EXPECT_TRUE(std::isnan(scrape().value("zkrecipes_lease_margin_seconds")));
}

TEST_F(ObserverMetricsTest, ARoundTripOfSeconds_HasABucket) {
  const auto observer = make();
  HeartbeatAnswered beat;
  for (const auto round_trip : {4s, 8s, 20s}) {
    beat.round_trip = round_trip;
    observer->on_heartbeat(beat);
  }
  EXPECT_EQ(scrape().value("zkrecipes_heartbeat_seconds_bucket", {{"le", "5"}}), 1);
  EXPECT_EQ(scrape().value("zkrecipes_heartbeat_seconds_bucket", {{"le", "10"}}), 2);
  EXPECT_EQ(scrape().value("zkrecipes_heartbeat_seconds_bucket", {{"le", "30"}}), 3);
}

// That of a handle which is lent can come back after its lease ran out.
TEST_F(ObserverMetricsTest, ALostSessionThatComesBack_IsTheSameSession) {
  const auto observer = make();
  observer->on_state_changed({ConnectionState::lost, ConnectionState::suspended, 1});
  observer->on_state_changed({ConnectionState::connected, ConnectionState::lost, 1});
  EXPECT_EQ(scrape().value("zkrecipes_reconnects_total", {{"session", "same"}}), 1);
  EXPECT_EQ(scrape().value("zkrecipes_reconnects_total", {{"session", "new"}}), 0);
  observer->on_state_changed({ConnectionState::lost, ConnectionState::connected, 1});
  observer->on_state_changed({ConnectionState::connected, ConnectionState::lost, 2});
  EXPECT_EQ(scrape().value("zkrecipes_reconnects_total", {{"session", "new"}}), 1);
}

TEST_F(ObserverMetricsTest, ManyThreads_LoseNoEvent) {
  const auto observer = make();
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 500; ++i) {
        const auto lock = lock_named(std::to_string(i % 7));
        const auto id = static_cast<std::uint64_t>(thread * 1000 + i);
        observer->on_waiting(event<LockWaiting>(id, lock));
        observer->on_acquired(event<LockAcquired>(id, lock));
        observer->on_released(event<LockReleased>(id, lock));
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(scrape().value("zkrecipes_acquires_total", {{"result", "granted"}}), 2'000);
  EXPECT_EQ(scrape().value("zkrecipes_hold_seconds_count"), 2'000);
  EXPECT_EQ(scrape().value("zkrecipes_holds"), 0);
  EXPECT_EQ(scrape().value("zkrecipes_waiters"), 0);
}

TEST_F(ObserverMetricsTest, SessionsLostOnSeveralThreads_AreAllCounted) {
  const auto observer = make();
  std::vector<std::thread> threads;
  for (std::int64_t session = 1; session <= 2; ++session)
    threads.emplace_back([&observer, session] {
      for (int i = 0; i < 1'000; ++i) {
        observer->on_state_changed({ConnectionState::lost, ConnectionState::connected, session});
        observer->on_state_changed({ConnectionState::connected, ConnectionState::lost, session + 2});
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(scrape().value("zkrecipes_session_expirations_total"), 2'000);
  EXPECT_EQ(scrape().value("zkrecipes_reconnects_total", {{"session", "new"}}), 2'000);
}

TEST_F(ObserverMetricsTest, BadInput_IsRefused) {
  EXPECT_THROW(PrometheusObserver(nullptr), std::invalid_argument);
  PrometheusOptions options;
  options.labels = {{"lock", "x"}};
  EXPECT_THROW(PrometheusObserver(registry(), options), std::invalid_argument);
  for (const char* name : {"", "not-a-label", "9lives", "a:b", "caf\xc3\xa9", "__reserved", "trailing "}) {
    options.labels = {{name, "x"}};
    EXPECT_THROW(PrometheusObserver(registry(), options), std::invalid_argument) << name;
  }
  for (const char* name : {"a", "Z9", "_", "_private", "snake_case__2"}) {
    options.labels = {{name, "x"}};
    EXPECT_NO_THROW(PrometheusObserver(registry(), options)) << name;
  }
  // Prometheus would refuse the whole scrape.
  for (const char* value : {"\xff", "caf\xe9", "\xc3", "\xe2\x82", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80"}) {
    options.labels = {{"connection", value}};
    EXPECT_THROW(PrometheusObserver(registry(), options), std::invalid_argument) << value;
  }
  for (const char* value : {"", "orders", "caf\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x94\x92"}) {
    options.labels = {{"connection", value}};
    EXPECT_NO_THROW(PrometheusObserver(registry(), options)) << value;
  }
}

TEST_F(ObserverMetricsTest, AMetricOfAnotherKindWithOurName_IsRefused) {
  prometheus::BuildCounter().Name("zkrecipes_holds").Register(*registry());
  EXPECT_THROW(make(), std::invalid_argument);
}

}  // namespace
}  // namespace zkrecipes::testing
