// SPDX-License-Identifier: Apache-2.0
#include "bench/comparison/contender_role.h"

#include <condition_variable>
#include <deque>
#include <iostream>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <unistd.h>

#include "bench/comparison/locks/design.h"
#include "examples/support/options.h"
#include "examples/support/store.h"

namespace comparison {
namespace {

using Clock = std::chrono::steady_clock;

void report(const std::string& word, Clock::time_point at, const std::string& detail) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  std::cout << word << ' ' << std::chrono::nanoseconds(at.time_since_epoch()).count() << ' ' << detail << std::endl;
}

std::string yes_or_no(bool value) {
  return value ? "yes" : "no";
}

/// Commands that wait for their turn. A thread listens, because the parent's end must end this process wherever it
/// stands, and because requests are counted while the lock is awaited.
class Orders {
 public:
  explicit Orders(const Lock& lock) {
    std::thread([this, &lock] {
      for (std::string line; std::getline(std::cin, line);) {
        if (line == "requests") {
          const auto count = lock.requests();
          report("requests", Clock::now(), count ? std::to_string(*count) : "-");
          continue;
        }
        const std::lock_guard guard(mutex_);
        lines_.push_back(line);
        changed_.notify_one();
      }
      ::_exit(0);
    }).detach();
  }

  std::string next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !lines_.empty(); });
    std::string line = std::move(lines_.front());
    lines_.pop_front();
    return line;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> lines_;  // guarded by mutex_
};

class ContenderRole {
 public:
  ContenderRole(Lock& lock, const std::string& store_port) : lock_(lock), store_(store_port) {}

  void obey(const std::string& order) {
    std::istringstream words(order);
    std::string verb;
    int number = 0;
    words >> verb >> number;
    if (verb == "acquire" || verb == "turn") acquire();
    if (verb == "turn") std::this_thread::sleep_for(kTurn);
    if (verb == "release" || verb == "turn") release();
    if (verb == "held") report("held", Clock::now(), yes_or_no(lock_.is_held()));
    if (verb == "read") report("value", Clock::now(), std::to_string(store_.read()));
    if (verb == "write") report("wrote", Clock::now(), store_.write(number, {token_.value_or(0)}) ? "ok" : "refused");
  }

 private:
  void acquire() {
    lock_.acquire();
    const auto granted = Clock::now();
    token_ = lock_.token();
    report("granted", granted, token_ ? std::to_string(*token_) : "-");
  }

  void release() {
    const auto begin = Clock::now();
    const bool was_held = lock_.release();
    report("released", begin, yes_or_no(was_held));
  }

  Lock& lock_;
  const examples::StoreClient store_;
  std::optional<std::int64_t> token_;
};

}  // namespace

std::string ContenderSpec::encode() const {
  std::ostringstream words;
  words << design << ' ' << endpoints << ' ' << lock_name << ' ' << lease.count() << ' ' << store_port;
  return words.str();
}

ContenderSpec ContenderSpec::decode(std::istream& words) {
  ContenderSpec spec;
  long lease = 0;
  if (!(words >> spec.design >> spec.endpoints >> spec.lock_name >> lease >> spec.store_port) ||
      find_design(spec.design) == nullptr)
    throw examples::UsageError("--role is for the program's own child processes");
  spec.lease = std::chrono::milliseconds(lease);
  return spec;
}

void run_contender(const ContenderSpec& spec) {
  const auto lock = make_lock(*find_design(spec.design), spec.endpoints, spec.lock_name, spec.lease);
  ContenderRole role(*lock, spec.store_port);
  Orders orders(*lock);
  report("ready", Clock::now(), "");
  for (;;) role.obey(orders.next());
}

}  // namespace comparison
