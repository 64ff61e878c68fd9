// SPDX-License-Identifier: Apache-2.0
// A real scrape over HTTP after contention and one lost session.
#include "tests/prometheus/scrape.h"

#include <cmath>
#include <gtest/gtest.h>
#include <iostream>
#include <thread>

#include "tests/support/fixture.h"
#include "zkrecipes/prometheus.h"
#include "zkrecipes/zkrecipes.h"

namespace zkrecipes::testing {
namespace {

using namespace std::chrono_literals;

class ScrapeTest : public ServerTest {
 protected:
  void SetUp() override {
    if (external_servers()) GTEST_SKIP() << "needs servers that it can control";
    ServerTest::SetUp();
  }
};

TEST_F(ScrapeTest, AfterContentionAndALostSession_TheMetricsSaySo) {
  constexpr int kThreads = 4, kRounds = 5;
  const Exposed exposed;
  ConnectionOptions settings = options_by_proxy(2s);
  settings.observer = std::make_shared<PrometheusObserver>(exposed.registry());
  Connection& connection = connect(settings);
  LockOptions named;
  named.name = "orders";
  FairMutex mutex(connection, "/lock", named);
  const Labels orders = {{"lock", "orders"}, {"mode", "exclusive"}};
  const auto with = [&](const std::string& label, const std::string& value) {
    Labels labels = orders;
    labels[label] = value;
    return labels;
  };

  // Contention: all wait at once, then one after the other holds.
  Hold first = mutex.acquire();
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) mutex.acquire().release();
    });
  EXPECT_TRUE(wait_for([&] { return exposed.scrape().value("zkrecipes_waiters", orders) == kThreads; }));
  EXPECT_EQ(exposed.scrape().value("zkrecipes_holds", orders), 1);
  EXPECT_FALSE(mutex.try_acquire());
  EXPECT_FALSE(mutex.try_acquire_for(20ms));
  EXPECT_TRUE(wait_for([&] { return exposed.scrape().value("zkrecipes_heartbeat_lease_margin_seconds_count") >= 2; }));
  first.release();
  for (std::thread& thread : threads) thread.join();

  // A broken connection, a lost session with a hold, and a hold after it.
  lose_connection();
  ASSERT_TRUE(wait_for([&] {
    return exposed.scrape().value("zkrecipes_reconnects_total", {{"session", "same"}}) == 1;
  }));
  Hold lost = mutex.acquire();
  expire_session(connection);
  ASSERT_TRUE(wait_for([&] {
    return exposed.scrape().value("zkrecipes_reconnects_total", {{"session", "new"}}) == 1;
  }));
  const Hold held = mutex.acquire();
  constexpr double kGranted = 1 + kThreads * kRounds + 2;
  ASSERT_TRUE(wait_for([&] { return exposed.scrape().value("zkrecipes_hold_seconds_count", orders) == kGranted - 1; }));
  ASSERT_TRUE(wait_for([&] { return !std::isnan(exposed.scrape().value("zkrecipes_lease_margin_seconds")); }));

  const Scrape scrape = exposed.scrape();
  EXPECT_EQ(scrape.value("zkrecipes_acquires_total", with("result", "granted")), kGranted);
  EXPECT_EQ(scrape.value("zkrecipes_acquires_total", with("result", "busy")), 1);
  EXPECT_EQ(scrape.value("zkrecipes_acquires_total", with("result", "timed_out")), 1);
  EXPECT_EQ(scrape.value("zkrecipes_acquires_total", with("result", "failed")), 0);
  EXPECT_EQ(scrape.value("zkrecipes_acquire_wait_seconds_count", orders), kGranted);
  EXPECT_GT(scrape.value("zkrecipes_acquire_wait_seconds_sum", orders), 0.02 * kThreads) << "all waited for the tries";
  EXPECT_GT(scrape.value("zkrecipes_hold_seconds_sum", orders), 0.02);
  EXPECT_EQ(scrape.value("zkrecipes_acquire_queue_position_count", orders), kGranted);
  EXPECT_GE(scrape.value("zkrecipes_acquire_queue_position_sum", orders), 1 + 2 + 3 + 4);
  EXPECT_LT(scrape.value("zkrecipes_acquire_queue_position_bucket", with("le", "0")), kGranted);
  EXPECT_GE(scrape.value("zkrecipes_acquire_wakeups_sum", orders), kThreads);
  EXPECT_EQ(scrape.value("zkrecipes_losses_total", with("reason", "session_expired")), 1);
  EXPECT_EQ(scrape.value("zkrecipes_losses_total", orders), 1);
  EXPECT_EQ(scrape.value("zkrecipes_holds", orders), 1);
  EXPECT_EQ(scrape.value("zkrecipes_waiters", orders), 0);
  EXPECT_EQ(scrape.value("zkrecipes_session_expirations_total"), 1);
  EXPECT_EQ(scrape.value("zkrecipes_connected"), 1);
  EXPECT_EQ(scrape.value("zkrecipes_requests_waiting"), 0);
  EXPECT_GE(scrape.value("zkrecipes_requests_in_flight"), 0);
  EXPECT_LT(scrape.value("zkrecipes_requests_in_flight"), 20);
  EXPECT_GT(scrape.value("zkrecipes_heartbeat_seconds_count"), 2);
  EXPECT_GT(scrape.value("zkrecipes_lease_margin_seconds"), 0);
  EXPECT_LT(scrape.value("zkrecipes_lease_margin_seconds"),
            std::chrono::duration<double>(connection.session_timeout()).count());
  if (HasFailure()) std::cout << scrape.text();
}

TEST_F(ScrapeTest, AnExpiredHandleOfTheProgram_IsALostSession) {
  const auto registry = std::make_shared<prometheus::Registry>();
  PlainClient program(proxy().address(), 20s);
  ConnectionOptions settings;
  settings.observer = std::make_shared<PrometheusObserver>(registry);
  Connection connection(program.handle(), settings);
  ASSERT_TRUE(connection.wait_until_connected(kLimit));
  expire(program.session_id());
  ASSERT_TRUE(wait_for_state(connection, ConnectionState::closed));
  connection.close();
  EXPECT_EQ(scrape_of(*registry).value("zkrecipes_session_expirations_total"), 1);
}

TEST_F(ScrapeTest, AClosedConnection_IsNoLostSession) {
  const auto registry = std::make_shared<prometheus::Registry>();
  ConnectionOptions settings = options();
  settings.observer = std::make_shared<PrometheusObserver>(registry);
  disconnect(connect(settings));
  EXPECT_EQ(scrape_of(*registry).value("zkrecipes_session_expirations_total"), 0);
}

}  // namespace
}  // namespace zkrecipes::testing
