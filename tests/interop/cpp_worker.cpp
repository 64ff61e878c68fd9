// SPDX-License-Identifier: Apache-2.0
//
// zkrecipes in the queue; what it understands is in README.md.
#include <atomic>
#include <chrono>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>

#include "tests/support/history.h"
#include "zkrecipes/zkrecipes.h"

namespace {

using namespace zkrecipes;
using zkrecipes::testing::history_time;
using zkrecipes::testing::HistoryWriter;
using Kind = zkrecipes::testing::HistoryEvent::Kind;

void say(const std::string& line) {
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  std::cout << line << std::endl;
}

LockMode mode_of(const std::string& kind) {
  for (const LockMode mode : {LockMode::exclusive, LockMode::read, LockMode::write, LockMode::permit})
    if (kind == to_string(mode)) return mode;
  throw std::invalid_argument("no such kind of lock: " + kind);
}

/// A lock of any kind, as one.
class AnyLock {
 public:
  AnyLock(Connection& connection, LockMode mode, const std::string& path, int permits, const LockOptions& options)
      : mode_(mode) {
    if (mode == LockMode::exclusive) mutex_ = std::make_unique<FairMutex>(connection, path, options);
    if (mode == LockMode::permit) semaphore_ = std::make_unique<Semaphore>(connection, path, permits, options);
    if (mode == LockMode::read || mode == LockMode::write)
      read_write_ = std::make_unique<ReadWriteLock>(connection, path, options);
  }

  LockMode mode() const { return mode_; }
  PendingHold acquire_async() {
    if (mutex_) return mutex_->acquire_async();
    if (semaphore_) return semaphore_->acquire_async();
    return mode_ == LockMode::read ? read_write_->acquire_read_async() : read_write_->acquire_write_async();
  }
  /// `permits` is for a semaphore.
  AcquireResult try_acquire_for(int permits, std::chrono::milliseconds timeout) {
    if (mutex_) return mutex_->try_acquire_for(timeout);
    if (semaphore_) return semaphore_->try_acquire_for(permits, timeout);
    return mode_ == LockMode::read ? read_write_->try_acquire_read_for(timeout)
                                   : read_write_->try_acquire_write_for(timeout);
  }
  Hold downgrade(Hold&& write) { return read_write_->downgrade(std::move(write)); }

 private:
  LockMode mode_;
  std::unique_ptr<FairMutex> mutex_;
  std::unique_ptr<Semaphore> semaphore_;
  std::unique_ptr<ReadWriteLock> read_write_;
};

struct Acquired {
  std::unique_ptr<AnyLock> lock;
  PendingHold pending;
  Hold hold;
};

class Worker {
 public:
  Worker(const std::string& servers, const std::string& history, const std::string& name, int timeout_ms)
      : connection_(options(servers, name, timeout_ms)), history_(history, name) {
    if (!connection_.wait_until_connected(std::chrono::seconds(30))) throw std::runtime_error("not connected");
  }
  ~Worker() { stop(); }

  void carry_out(const std::string& line) {
    std::istringstream in(line);
    std::string verb;
    std::string first;
    in >> verb >> first;
    if (verb == "acquire") {
      std::string path;
      std::string id;
      int permits = 1;
      in >> path >> id >> permits;
      acquire(mode_of(first), path, id, std::max(permits, 1));
    } else if (verb == "release") {
      acquired_.at(first)->hold.release();
      acquired_.erase(first);
      say("released " + first);
    } else if (verb == "downgrade") {
      Acquired& one = *acquired_.at(first);
      one.hold = one.lock->downgrade(std::move(one.hold));
      say("downgraded " + first);
    } else if (verb == "revoke") {
      request_revoke(connection_, first);
      say("revoke-sent");
    } else if (verb == "loop") {
      std::string path;
      int permits = 1;
      int most = 1;
      in >> path >> permits >> most;
      looping_ = true;
      looper_ = std::thread([this, mode = mode_of(first), path, permits, most] {
        loop(mode, path, std::max(permits, 1), std::max(most, 1));
      });
    } else if (verb == "stop") {
      say("stopped " + std::to_string(stop()));
    } else {
      throw std::invalid_argument("unknown command: " + line);
    }
  }

 private:
  static ConnectionOptions options(const std::string& servers, const std::string& name, int timeout_ms) {
    ConnectionOptions options;
    options.servers = servers;
    options.session_timeout = std::chrono::milliseconds(timeout_ms);
    options.identity = name;
    return options;
  }

  void acquire(LockMode mode, const std::string& path, const std::string& id, int permits) {
    LockOptions lock_options;
    lock_options.on_revoke = [id](const std::string&) { say("revoke-asked " + id); };
    const auto one = std::make_shared<Acquired>();
    one->lock = std::make_unique<AnyLock>(connection_, mode, path, permits, lock_options);
    one->pending = one->lock->acquire_async();
    acquired_[id] = one;
    one->pending.on_ready([one, id](AcquireResult result) {
      try {
        one->hold = std::move(result).value();
        say("granted " + id + " " + one->hold.token().to_string() + " " + one->hold.node());
      } catch (const Error& error) {
        say("ended " + id + " " + error.what());
      }
    });
  }

  void loop(LockMode mode, const std::string& path, int permits, int most) {
    std::mt19937 random(std::random_device{}());
    LockOptions options;
    options.look_ahead = random() % 2 == 0;
    if (mode == LockMode::exclusive && random() % 2 == 0) options.retain = std::chrono::milliseconds(50);
    AnyLock lock(connection_, mode, path, permits, options);
    while (looping_) {
      const int wanted = 1 + static_cast<int>(random() % static_cast<unsigned>(most));
      // Each of the permits is an operation of its own in the history.
      const std::int64_t before = operations_;
      operations_ += wanted;
      const auto append = [&](Kind kind, std::int64_t time, std::optional<std::int64_t> token = {}) {
        for (int i = 1; i <= wanted; ++i) history_.append(before + i, kind, mode, time, token);
      };
      append(Kind::invoke, history_time());
      AcquireResult hold = lock.try_acquire_for(wanted, std::chrono::seconds(20));
      const std::int64_t granted = history_time();
      if (!hold || !hold->is_valid()) {
        append(Kind::fail, granted);
        continue;
      }
      const std::int64_t token = hold->token().zxid;
      append(Kind::ok, granted, token);
      std::this_thread::sleep_for(std::chrono::milliseconds(random() % 4));
      const std::int64_t still = history_time();
      if (hold->is_valid())
        append(Kind::release, still, token);
      else
        append(Kind::lost, std::max(granted, history_time(hold->valid_until())), token);
    }
  }

  std::int64_t stop() {
    looping_ = false;
    if (looper_.joinable()) looper_.join();
    return operations_;
  }

  Connection connection_;
  const HistoryWriter history_;
  std::map<std::string, std::shared_ptr<Acquired>> acquired_;
  std::atomic<bool> looping_{false};
  std::atomic<std::int64_t> operations_{0};
  std::thread looper_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: " << argv[0] << " SERVERS HISTORY NAME SESSION_TIMEOUT_MS\n";
    return 2;
  }
  try {
    Worker worker(argv[1], argv[2], argv[3], std::stoi(argv[4]));
    say("ready");
    for (std::string line; std::getline(std::cin, line);) worker.carry_out(line);
    return 0;
  } catch (const std::exception& error) {
    say(std::string("error ") + error.what());
    return 1;
  }
}
