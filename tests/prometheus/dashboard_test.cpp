// SPDX-License-Identifier: Apache-2.0
// The Grafana dashboard names metrics and labels that exist.
#include <boost/property_tree/json_parser.hpp>
#include <boost/property_tree/ptree.hpp>
#include <regex>

#include "tests/prometheus/scrape.h"
#include "tests/support/fixture.h"
#include "zkrecipes/prometheus.h"
#include "zkrecipes/zkrecipes.h"

namespace zkrecipes::testing {
namespace {

using Json = boost::property_tree::ptree;

/// All texts with this key.
void collect(const Json& json, const std::string& key, std::vector<std::string>& found) {
  for (const auto& [name, child] : json) {
    if (name == key && child.empty()) found.push_back(child.data());
    collect(child, key, found);
  }
}

std::set<std::string> names_in(const std::vector<std::string>& texts, const std::string& pattern) {
  std::set<std::string> names;
  const std::regex regex(pattern);
  for (const std::string& text : texts)
    for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end; ++at) names.insert((*at)[1]);
  return names;
}

class DashboardTest : public ServerTest {
 protected:
  static Json dashboard() {
    Json json;
    boost::property_tree::read_json(ZKRECIPES_DASHBOARD, json);  // throws if it is no JSON
    return json;
  }
  /// Of a lock that was used once.
  Scrape scrape() {
    const Exposed exposed;
    ConnectionOptions settings = options();
    settings.observer = std::make_shared<PrometheusObserver>(exposed.registry());
    FairMutex mutex(connect(settings), "/lock");
    mutex.acquire().release();
    EXPECT_TRUE(wait_for([&] { return exposed.scrape().has("zkrecipes_holds"); }));
    return exposed.scrape();
  }
};

TEST_F(DashboardTest, ItsMetrics_AreThoseOfAScrape) {
  std::vector<std::string> queries;
  collect(dashboard(), "expr", queries);
  const std::string metric = "\\b(zkrecipes_[a-z_]+)";
  const auto shown = names_in(queries, metric);
  const Scrape scraped = scrape();
  for (const std::string& family : scraped.families())
    EXPECT_TRUE(shown.count(family) + shown.count(family + "_bucket") + shown.count(family + "_sum") > 0) << family;
  // The queries of the lists to choose from, too.
  collect(dashboard(), "query", queries);
  const auto samples = scraped.samples();
  for (const std::string& name : names_in(queries, metric)) EXPECT_EQ(samples.count(name), 1U) << name;
  EXPECT_GT(shown.size(), 10U);
}

TEST_F(DashboardTest, EachLabelInALegend_ExistsOrIsPrometheusOwn) {
  std::vector<std::string> legends;
  collect(dashboard(), "legendFormat", legends);
  const std::set<std::string> known = {"instance", "lock", "mode", "reason", "result", "session"};
  for (const std::string& label : names_in(legends, "\\{\\{([a-z_]+)\\}\\}"))
    EXPECT_EQ(known.count(label), 1U) << label;
}

}  // namespace
}  // namespace zkrecipes::testing
