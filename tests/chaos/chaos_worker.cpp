// SPDX-License-Identifier: Apache-2.0
//
// A client process of the chaos run: several connections, several threads each, all recipes, until it receives "stop".
// Writes what happened to it into one history per recipe.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/chaos/chaos_recipes.h"
#include "tests/support/history.h"
#include "zkrecipes/zkrecipes.h"

namespace {

using namespace zkrecipes;
using zkrecipes::testing::history_time;
using zkrecipes::testing::HistoryWriter;
using Kind = zkrecipes::testing::HistoryEvent::Kind;
using std::chrono::milliseconds;

LockOptions lock_options(bool look_ahead, milliseconds retain = {}) {
  LockOptions options;
  options.look_ahead = look_ahead;
  options.retain = retain;
  return options;
}

/// The locks of one connection. Contenders with and without look-ahead stand in one line.
struct Locks {
  Locks(Connection& connection, bool look_ahead)
      : fair(connection, "/chaos/fair", lock_options(look_ahead)),
        retained(connection, "/chaos/retained", lock_options(look_ahead, milliseconds(look_ahead ? 20 : 200))),
        simple(connection, "/chaos/simple"),
        recursive(connection, "/chaos/recursive"),
        read_write(connection, "/chaos/read_write", lock_options(look_ahead)),
        semaphore(connection, "/chaos/semaphore", zkrecipes::testing::kChaosPermits, lock_options(look_ahead)) {}
  FairMutex fair;
  FairMutex retained;
  SimpleLock simple;
  RecursiveFairMutex recursive;
  ReadWriteLock read_write;
  Semaphore semaphore;
};

/// One thread: acquires, holds, releases, in random ways.
class Contender {
 public:
  Contender(Locks& locks, const std::string& directory, const std::string& process, const std::string& name,
            const std::vector<std::string>& recipes, unsigned seed)
      : locks_(locks), recipes_(recipes), random_(seed) {
    for (const std::string& recipe : recipes)
      histories_[recipe] =
          std::make_unique<HistoryWriter>(zkrecipes::testing::chaos_history_file(directory, recipe, process), name);
  }

  void run(const std::atomic<bool>& stopping) {
    while (!stopping) {
      const std::string& recipe = recipes_[random_() % recipes_.size()];
      history_ = histories_.at(recipe).get();
      ++operation_;
      if (recipe == "recursive")
        use_recursive();
      else
        use(recipe);
    }
  }

 private:
  bool chance(unsigned percent) { return random_() % 100 < percent; }

  void write(Kind kind, std::int64_t time, std::optional<std::int64_t> token = {}) {
    history_->append(operation_, kind, mode_, time, token);
  }

  template <class Once, class Until, class Async>
  AcquireResult acquire(Once once, Until until, Async async) {
    if (chance(10)) return once();
    if (chance(15)) {
      PendingHold pending = async();
      const auto deadline = Clock::now() + milliseconds(random_() % 50);
      if (!pending.wait_until(deadline)) return {};  // leaves the queue
      std::promise<AcquireResult> result;
      pending.on_ready([&result](AcquireResult taken) { result.set_value(std::move(taken)); });
      return result.get_future().get();
    }
    return until(Clock::now() + milliseconds(chance(15) ? 1 + random_() % 40 : 3'000));
  }

  AcquireResult acquire(const std::string& recipe) {
    if (recipe == "read_write") {
      ReadWriteLock& lock = locks_.read_write;
      if (mode_ == LockMode::read)
        return acquire([&] { return lock.try_acquire_read(); },
                       [&](Clock::time_point deadline) { return lock.try_acquire_read_until(deadline); },
                       [&] { return lock.acquire_read_async(); });
      return acquire([&] { return lock.try_acquire_write(); },
                     [&](Clock::time_point deadline) { return lock.try_acquire_write_until(deadline); },
                     [&] { return lock.acquire_write_async(); });
    }
    const auto of = [this](auto& lock) {
      return acquire([&] { return lock.try_acquire(); },
                     [&](Clock::time_point deadline) { return lock.try_acquire_until(deadline); },
                     [&] { return lock.acquire_async(); });
    };
    if (recipe == "fair") return of(locks_.fair);
    if (recipe == "retained") return of(locks_.retained);
    if (recipe == "simple") return of(locks_.simple);
    return of(locks_.semaphore);
  }

  void stay_inside() {
    std::this_thread::sleep_for(chance(12) ? milliseconds(random_() % 150) : milliseconds(random_() % 3));
  }

  void use(const std::string& recipe) {
    mode_ = LockMode::exclusive;
    if (recipe == "read_write") mode_ = chance(60) ? LockMode::read : LockMode::write;
    if (recipe == "semaphore") mode_ = LockMode::permit;
    write(Kind::invoke, history_time());
    AcquireResult hold = acquire(recipe);
    const std::int64_t granted = history_time();
    if (!hold || !hold->is_valid()) return write(Kind::fail, granted);
    const std::int64_t token = hold->token().zxid;
    write(Kind::ok, granted, token);
    write(Kind::valid, std::max(granted, history_time(hold->valid_until())));
    stay_inside();
    if (mode_ == LockMode::write && chance(40)) downgrade(*hold, token);
    const std::int64_t still = history_time();
    if (hold->is_valid())
      write(Kind::release, still, token);
    else
      write(Kind::lost, std::max(granted, history_time(hold->valid_until())), token);
    if (chance(30)) try {
        hold->release();
      } catch (const Error&) {
        // Lost meanwhile: the history says so, or it happened after the release began.
      }
  }

  void downgrade(Hold& hold, std::int64_t token) {
    const std::int64_t before = history_time();
    if (!hold.is_valid()) return;
    try {
      hold = locks_.read_write.downgrade(std::move(hold));
    } catch (const Error&) {
      return;
    }
    mode_ = LockMode::read;
    write(Kind::ok, before, token);
    stay_inside();
  }

  void use_recursive() {
    mode_ = LockMode::exclusive;
    RecursiveFairMutex& lock = locks_.recursive;
    write(Kind::invoke, history_time());
    if (!lock.try_lock_for(milliseconds(chance(15) ? 1 + random_() % 40 : 3'000)))
      return write(Kind::fail, history_time());
    const std::int64_t granted = history_time();
    const bool held = lock.is_held();
    if (!held) {
      write(Kind::fail, granted);
      return lock.unlock();
    }
    const std::int64_t token = lock.fencing_token().zxid;
    write(Kind::ok, granted, token);
    lock.lock();
    stay_inside();
    lock.unlock();
    const std::int64_t still = history_time();
    // Without a hold in hand the end of a lost one is not known: it counts for the moment of its grant only.
    if (lock.is_held())
      write(Kind::release, still, token);
    else
      write(Kind::lost, granted, token);
    lock.unlock();
  }

  Locks& locks_;
  const std::vector<std::string> recipes_;
  std::mt19937 random_;
  std::map<std::string, std::unique_ptr<HistoryWriter>> histories_;
  const HistoryWriter* history_ = nullptr;
  std::int64_t operation_ = 0;
  LockMode mode_ = LockMode::exclusive;
};

/// One thread that keeps a lock for long and does nothing else on its connection.
class Keeper {
 public:
  Keeper(Connection& connection, const std::string& directory, const std::string& process, const std::string& name,
         milliseconds session_timeout, unsigned seed)
      : lock_(connection, "/chaos/patient"),
        history_(zkrecipes::testing::chaos_history_file(directory, "patient", process), name),
        session_timeout_(session_timeout),
        random_(seed) {}

  void run(const std::atomic<bool>& stopping) {
    while (!stopping) {
      ++operation_;
      write(Kind::invoke, history_time());
      const AcquireResult hold = lock_.try_acquire_for(session_timeout_ * 2);
      const std::int64_t granted = history_time();
      if (!hold || !hold->is_valid()) {
        write(Kind::fail, history_time());
        continue;
      }
      const std::int64_t token = hold->token().zxid;
      write(Kind::ok, granted, token);
      write(Kind::valid, std::max(granted, history_time(hold->valid_until())));
      const auto end = Clock::now() + session_timeout_ * (200 + random_() % 200) / 100;
      keep(*hold, granted, token, end, stopping);
    }
  }

 private:
  void write(Kind kind, std::int64_t time, std::optional<std::int64_t> token = {}) {
    history_.append(operation_, kind, LockMode::exclusive, time, token);
  }

  /// A hold counts as the user sees it: valid up to the last time at which is_valid() was true. The time is
  /// taken first, so a pause between the two cannot make the hold look longer than it was.
  void keep(const Hold& hold, std::int64_t granted, std::int64_t token, Clock::time_point end,
            const std::atomic<bool>& stopping) {
    std::int64_t seen_valid = granted;
    while (Clock::now() < end && !stopping) {
      const std::int64_t now = history_time();
      if (!hold.is_valid()) return write(Kind::lost, seen_valid, token);
      seen_valid = now;
      std::this_thread::sleep_for(milliseconds(2));
    }
    write(Kind::release, seen_valid, token);
  }

  FairMutex lock_;
  const HistoryWriter history_;
  const milliseconds session_timeout_;
  std::mt19937 random_;
  std::int64_t operation_ = 0;
};

struct Client {
  Client(const ConnectionOptions& options, bool look_ahead) : connection(options), locks(connection, look_ahead) {}
  Connection connection;
  Locks locks;
};

int run(char** argv) {
  const std::string servers = argv[1];
  const std::string directory = argv[2];
  const std::string process = argv[3];
  const int timeout = std::stoi(argv[4]);
  const auto seed = static_cast<unsigned>(std::stoul(argv[5]));
  std::vector<std::string> recipes = zkrecipes::testing::split_list(argv[6]);
  const auto patient = std::find(recipes.begin(), recipes.end(), "patient");
  const bool keeps = patient != recipes.end();
  if (keeps) recipes.erase(patient);

  ConnectionOptions options;
  options.servers = servers;
  options.session_timeout = milliseconds(timeout);
  options.identity = process;
  options.retry.max_delay = milliseconds(500);
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < zkrecipes::testing::kChaosConnections; ++i)
    clients.push_back(std::make_unique<Client>(options, i % 2 == 1));
  Connection of_keeper(options);

  std::atomic<bool> stopping{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < zkrecipes::testing::kChaosThreadsOfProcess; ++i) {
    const std::string name = zkrecipes::testing::chaos_thread_name(process, i);
    const unsigned seed_of_thread = seed + static_cast<unsigned>(i);
    if (i == zkrecipes::testing::kChaosThreadsOfProcess - 1) {
      if (keeps)
        threads.emplace_back([&, name, seed_of_thread] {
          Keeper(of_keeper, directory, process, name, options.session_timeout, seed_of_thread).run(stopping);
        });
    } else if (!recipes.empty()) {
      Locks& locks = clients[static_cast<std::size_t>(i % zkrecipes::testing::kChaosConnections)]->locks;
      threads.emplace_back([&, name, seed_of_thread] {
        Contender(locks, directory, process, name, recipes, seed_of_thread).run(stopping);
      });
    }
  }
  std::cout << "ready" << std::endl;
  std::string line;
  std::getline(std::cin, line);  // "stop", or the end of the driver
  stopping = true;
  for (std::thread& thread : threads) thread.join();
  std::cout << "stopped" << std::endl;
  std::getline(std::cin, line);  // the sessions live on until what is left over has been counted
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) {
    std::cerr << "usage: " << argv[0] << " SERVERS HISTORY_DIRECTORY NAME SESSION_TIMEOUT_MS SEED RECIPE,...\n";
    return 2;
  }
  try {
    return run(argv);
  } catch (const std::exception& error) {
    std::cout << "error " << error.what() << std::endl;
    return 1;
  }
}
