// SPDX-License-Identifier: Apache-2.0
//
// The locks of bench/comparison on other services than ZooKeeper, for scale. Each driver starts the servers of its
// peer, with their data in memory where the system offers that, and ends them.
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/comparison/locks/design.h"
#include "bench/comparison/servers/redis_server.h"
#include "bench/comparison/servers/service.h"
#include "bench/driver/driver.h"
#include "examples/support/interrupt.h"

namespace {

/// Longer than any run takes a lock for; shorter ones would be renewed more often.
constexpr std::chrono::seconds kLease{30};

class AcquireAndRelease : public bench::Workload {
 public:
  explicit AcquireAndRelease(const comparison::Design& design) {
    // One server, as the others have; the comparison's pair would replicate what is measured here.
    if (design.key == "redis-px")
      redis_ = std::make_unique<comparison::RedisServer>();
    else
      service_ = start_service(design, "");
    lock_ = make_lock(design, redis_ ? redis_->endpoint() : service_->endpoints(), "bench", kLease);
  }

  void run(long cycles) override {
    const long before = lock_->requests().value_or(0);
    for (long i = 0; i < cycles; ++i) {
      lock_->acquire();
      if (!lock_->release()) throw std::runtime_error("the lock was lost");
    }
    requests_ = lock_->requests().value_or(0) - before;
  }

  std::map<std::string, double> figures() const override { return {{"requests", static_cast<double>(requests_)}}; }

 private:
  // the servers outlive the lock
  std::unique_ptr<comparison::RedisServer> redis_;
  std::unique_ptr<comparison::Service> service_;
  std::unique_ptr<comparison::Lock> lock_;
  long requests_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv, argv + argc);
  const comparison::Design* const design =
      argc >= 3 && arguments[1] == "--peer" ? comparison::find_design(arguments[2]) : nullptr;
  if (design == nullptr) {
    std::cerr << "usage: other_services_driver --peer NAME [OPTION...], NAME as comparison --help lists them\n";
    return 2;
  }
  examples::clean_up_on_interrupt();
  std::vector<char*> rest{argv[0]};
  rest.insert(rest.end(), argv + 3, argv + argc);
  return bench::drive(
      static_cast<int>(rest.size()), rest.data(), design->key,
      {{"confirmed", [&](const bench::DriverOptions&) { return std::make_unique<AcquireAndRelease>(*design); }}});
}
