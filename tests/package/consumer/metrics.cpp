// SPDX-License-Identifier: Apache-2.0
// A program with the optional component: find_package(zkrecipes COMPONENTS prometheus).
#include <iostream>
#include <prometheus/registry.h>
#include <zkrecipes/prometheus.h>
#include <zkrecipes/zkrecipes.h>

int main() {
  const auto registry = std::make_shared<prometheus::Registry>();
  zkrecipes::ConnectionOptions options;
  options.servers = "127.0.0.1:1";  // nobody answers
  options.observer = std::make_shared<zkrecipes::PrometheusObserver>(registry);
  zkrecipes::Connection connection(options);
  zkrecipes::LockOptions named;
  named.name = "consumer";
  zkrecipes::FairMutex mutex(connection, "/lock", named);
  const bool refused = !mutex.try_acquire();
  const std::size_t families = registry->Collect().size();
  std::cout << families << " families of metrics\n";
  return refused && families > 10 ? 0 : 1;
}
