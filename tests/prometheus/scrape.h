// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <prometheus/exposer.h>
#include <prometheus/registry.h>
#include <set>
#include <string>
#include <vector>

namespace zkrecipes::testing {

using Labels = std::map<std::string, std::string>;

/// The text that a scrape returns, taken apart.
class Scrape {
 public:
  explicit Scrape(const std::string& text);

  /// The sum of the samples of this name that have these labels, and perhaps others. Fails the test if there are none.
  double value(const std::string& sample, const Labels& labels = {}) const;
  bool has(const std::string& sample, const Labels& labels = {}) const;
  std::set<std::string> families() const;  ///< as the lines with # TYPE name them
  std::set<std::string> samples() const;   ///< with _bucket, _sum and _count
  std::size_t size() const { return samples_.size(); }
  const std::string& text() const { return text_; }

 private:
  const std::string text_;
  std::set<std::string> families_;
  struct Sample {
    std::string name;
    Labels labels;
    double value;
  };
  std::vector<Sample> samples_;
};

/// The same text without HTTP; an HTTP server takes two seconds to end.
Scrape scrape_of(const prometheus::Registry& registry);

/// A registry behind an HTTP server of prometheus-cpp, on a free port of the loopback interface.
class Exposed {
 public:
  Exposed();
  const std::shared_ptr<prometheus::Registry>& registry() const { return registry_; }
  /// GET /metrics with a socket of our own, as Prometheus does.
  Scrape scrape() const;

 private:
  const std::shared_ptr<prometheus::Registry> registry_ = std::make_shared<prometheus::Registry>();
  prometheus::Exposer exposer_{"127.0.0.1:0", 1};
};

}  // namespace zkrecipes::testing
