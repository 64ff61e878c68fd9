// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/simulated_world.h"

#include <arpa/inet.h>
#include <utility>

#include "connection/handle.h"
#include "tests/simulation/simulated_lane.h"

namespace zkrecipes::simulation {

namespace {

// Far from zero, which means "never" in places, and apart from each other, so that mixing the two clocks shows.
constexpr auto kClockStart = std::chrono::hours(1'000);
constexpr auto kLeaseClockStart = std::chrono::hours(5'000);

/// Waiting runs the simulation on.
class SimulatedLatch final : public detail::Latch {
 public:
  explicit SimulatedLatch(Process& process) : process_(process) {}

  void set() override { set_ = true; }
  bool wait_for(std::chrono::milliseconds patience) override {
    const Time deadline = process_.clock() + patience;
    process_.post(patience + std::chrono::microseconds(1), [] {});  // so that there is an event at that time
    while (!set_) {
      if (!process_.is_alive()) return false;
      if (!process_.is_paused() && process_.clock() >= deadline) return false;
      if (!process_.scheduler().step()) return false;
    }
    return true;
  }

 private:
  Process& process_;
  bool set_ = false;
};

bool is_numeric(const std::string& host) {
  in_addr address{};
  return inet_pton(AF_INET, host.c_str(), &address) == 1;
}

}  // namespace

std::string NameService::address_of(const std::string& name) const {
  if (down_) return {};
  for (int server = 0; server < ensemble_.size(); ++server)
    if (name == name_of(server)) return ensemble_.address(server);
  return {};
}

SimulatedWorld::SimulatedWorld(Process& process, Ensemble& ensemble, const NameService& names)
    : process_(process), ensemble_(ensemble), names_(names), random_(process.scheduler().random().next()) {}

SimulatedWorld::~SimulatedWorld() = default;

Clock::time_point SimulatedWorld::now() const noexcept {
  return Clock::time_point(kClockStart + process_.clock());
}

detail::LeaseClock::time_point SimulatedWorld::lease_now() const noexcept {
  return detail::LeaseClock::time_point(kLeaseClockStart + process_.clock());
}

std::string SimulatedWorld::make_guid() {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string guid = "xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx";
  std::uint64_t bits = 0;
  int left = 0;
  for (char& c : guid) {
    if (c != 'x') continue;
    if (left == 0) {
      bits = random_.next();
      left = 16;
    }
    c = kDigits[bits & 15];
    bits >>= 4;
    --left;
  }
  return guid;
}

std::unique_ptr<detail::Lane> SimulatedWorld::make_lane(const std::string&) {
  return std::make_unique<SimulatedLane>(*this);
}

std::shared_ptr<detail::Latch> SimulatedWorld::make_latch() {
  return std::make_shared<SimulatedLatch>(process_);
}

std::vector<std::string> SimulatedWorld::resolve(const std::vector<detail::HostPort>& hosts, std::string& problem) {
  std::vector<std::string> addresses;
  for (const detail::HostPort& host : hosts) {
    if (is_numeric(host.host)) {
      addresses.push_back(host.host + ":" + std::to_string(host.port));
      continue;
    }
    std::string address = names_.address_of(host.host);
    if (address.empty())
      problem += (problem.empty() ? "" : "; ") + host.host + ": no such name for now";
    else
      addresses.push_back(std::move(address));
  }
  return addresses;
}

std::unique_ptr<detail::Handle> SimulatedWorld::open_handle(const detail::HandleSettings& settings,
                                                            const std::weak_ptr<detail::HandleListener>& listener) {
  return ensemble_.connect(process_, settings, listener);
}

Time SimulatedWorld::scheduling_delay() {
  constexpr Time kUsual = std::chrono::microseconds(30);
  constexpr Time kSeldom = std::chrono::milliseconds(10);
  return Time(static_cast<std::int64_t>(random_.below(random_.below(256) == 0 ? kSeldom.count() : kUsual.count())));
}

}  // namespace zkrecipes::simulation
