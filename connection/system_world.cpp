// SPDX-License-Identifier: Apache-2.0
#include "connection/system_world.h"

#include <random>
#include <utility>

#include "connection/guid.h"
#include "connection/mutex.h"
#include "connection/task_thread.h"
#include "connection/zookeeper_handle.h"

namespace zkrecipes::detail {

namespace {

class SystemLatch final : public Latch {
 public:
  void set() override {
    MutexLock lock(mutex_);
    set_ = true;
    changed_.notify_all();
  }
  bool wait_for(std::chrono::milliseconds patience) override {
    MutexLock lock(mutex_);
    const auto deadline = Clock::now() + patience;
    while (!set_)
      if (changed_.wait_until(lock, deadline) == std::cv_status::timeout) return set_;
    return true;
  }

 private:
  Mutex mutex_;
  Condition changed_;
  bool set_ ZKR_GUARDED_BY(mutex_) = false;
};

class SystemWorld final : public World {
 public:
  Clock::time_point now() const noexcept override { return Clock::now(); }
  LeaseClock::time_point lease_now() const noexcept override { return LeaseClock::now(); }

  double random() override {
    thread_local std::minstd_rand generator{std::random_device{}()};
    return std::uniform_real_distribution<double>(0.0, 1.0)(generator);
  }
  std::string make_guid() override { return detail::make_guid(); }

  std::unique_ptr<Lane> make_lane(const std::string& name) override { return std::make_unique<TaskThread>(name); }
  std::shared_ptr<Latch> make_latch() override { return std::make_shared<SystemLatch>(); }

  std::vector<std::string> resolve(const std::vector<HostPort>& hosts, std::string& problem) override {
    return detail::resolve(hosts, problem);
  }
  std::unique_ptr<Handle> open_handle(const HandleSettings& settings,
                                      const std::weak_ptr<HandleListener>& listener) override {
    return open_zookeeper_handle(settings, listener);
  }
};

}  // namespace

std::shared_ptr<World> system_world() {
  // Never destroyed: threads that a program leaves running at its exit still ask for the time.
  static const auto* const world = new std::shared_ptr<World>(std::make_shared<SystemWorld>());
  return *world;
}

}  // namespace zkrecipes::detail
