// SPDX-License-Identifier: Apache-2.0
// The code of docs/metrics.md, run, and its tables, compared with what a scrape shows.
#include <fstream>
#include <regex>
#include <sstream>

#include "tests/prometheus/scrape.h"
#include "tests/support/fixture.h"
#include "zkrecipes/prometheus.h"
#include "zkrecipes/zkrecipes.h"

namespace zkrecipes::testing {
namespace {

std::vector<std::string> alerts;
void alert(const std::string& text) {
  alerts.push_back(text);
}

namespace page {
#include <metrics_3.inc>
}  // namespace page

class MetricsPageTest : public ServerTest {};

TEST_F(MetricsPageTest, ItsPrograms_Run) {
  const std::string address = "127.0.0.1:0";
  const std::string servers = ServerTest::options().servers;
#include <metrics_1.inc>
  ASSERT_TRUE(connection.wait_until_connected(kLimit));
  mutex.acquire().release();
  {
#include <metrics_2.inc>
    ASSERT_TRUE(billing.wait_until_connected(kLimit));
  }
  std::string connections;
  for (const prometheus::MetricFamily& family : registry->Collect())
    if (family.name == "zkrecipes_connected")
      for (const prometheus::ClientMetric& metric : family.metric)
        for (const auto& label : metric.label) connections += label.name + "=" + label.value;
  EXPECT_EQ(connections, "connection=billing");

  LockLost lost;
  lost.lock = std::make_shared<const LockInfo>(LockInfo{"/locks/a", "a", LockKind::mutex, LockMode::exclusive});
  lost.token.zxid = 7;
  lost.text = "its session is over";
  page::Losses().on_lost(lost);
  EXPECT_EQ(alerts, std::vector<std::string>{"a lost /locks/a, token 7: its session is over"});
}

TEST_F(MetricsPageTest, ItsTables_NameEachMetricAndNoOther) {
  const auto registry = std::make_shared<prometheus::Registry>();
  ConnectionOptions settings = options();
  settings.observer = std::make_shared<PrometheusObserver>(registry);
  FairMutex mutex(connect(settings), "/lock");
  mutex.acquire().release();
  ASSERT_TRUE(wait_for([&] { return scrape_of(*registry).has("zkrecipes_holds"); }));

  std::ifstream file(ZKRECIPES_METRICS_PAGE);
  std::set<std::string> named;
  const std::regex row("^\\| `(zkrecipes_[a-z_]+)` \\| (counter|gauge|histogram) \\|.*");
  for (std::string line; std::getline(file, line);)
    if (std::smatch match; std::regex_match(line, match, row)) named.insert(match[1]);
  EXPECT_EQ(named, scrape_of(*registry).families());
}

}  // namespace
}  // namespace zkrecipes::testing
