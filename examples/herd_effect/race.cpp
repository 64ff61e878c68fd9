// SPDX-License-Identifier: Apache-2.0
#include "examples/herd_effect/race.h"

#include <mutex>
#include <thread>
#include <zkrecipes/fair_mutex.h>
#include <zkrecipes/simple_lock.h>

#include "examples/support/crew.h"

namespace herd_effect {
namespace {

using Clock = zkrecipes::Clock;
constexpr std::chrono::seconds kQueueing{10};

/// Returns when one more watch is set than `watches`: the newcomer waits. Without such a counter, after a while.
void await_newcomer(const std::string& servers, long watches) {
  if (watches < 0) return std::this_thread::sleep_for(std::chrono::milliseconds(50));
  for (const auto deadline = Clock::now() + kQueueing; Clock::now() < deadline;) {
    const auto counters = read_counters(servers);
    if (!counters || counters->watches > watches) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

template <class Lock>
class Race {
 public:
  Race(const RaceSpec& spec, const std::vector<std::shared_ptr<zkrecipes::Connection>>& connections, Progress& progress)
      : spec_(spec), connections_(connections), progress_(progress) {
    log_.lock = spec.lock;
    options_.look_ahead = spec.lock == LockKind::look_ahead;
    log_.contenders = spec.contenders;
    log_.contended_turns = spec.rounds * spec.contenders;
  }

  RaceLog run() {
    examples::Crew crew;
    Lock opener(*connections_.front(), path(), options_);
    zkrecipes::Hold closed = opener.acquire();  // given back before the crew is waited for, also if something throws
    opened_ = Clock::now();                     // times are shifted at the end to when it really opened
    const auto counters = read_counters(spec_.servers);
    const long watches = counters ? counters->watches : -1;
    for (int i = 0; i < spec_.contenders; ++i) {
      crew.start([this, i] { contend(i); });
      await_newcomer(spec_.servers, watches < 0 ? -1 : watches + i);
    }
    log_.before = read_counters(spec_.servers);
    const auto start = Clock::now();
    const double shift = since_opened(start);
    closed.release();
    crew.join();
    log_.after = read_counters(spec_.servers);
    for (Turn& turn : log_.turns)
      for (double* time : {&turn.asked, &turn.granted, &turn.released}) *time -= shift;
    return log_;
  }

 private:
  std::string path() const { return std::string("/zkrecipes-examples/herd_effect/") + name_of(spec_.lock); }

  double since_opened(Clock::time_point time) const { return std::chrono::duration<double>(time - opened_).count(); }

  void contend(int contender) {
    Lock lock(*connections_[static_cast<std::size_t>(contender) + 1], path(), options_);
    for (bool again = true; again;) {
      Turn turn;
      turn.contender = contender;
      turn.asked = since_opened(Clock::now());
      zkrecipes::Hold hold = lock.acquire();
      turn.granted = since_opened(Clock::now());
      turn.wakeups = hold.cost().wakeups;
      turn.requests = hold.cost().requests;
      std::this_thread::sleep_for(spec_.work);
      turn.released = since_opened(Clock::now());
      again = note(turn);
      hold.release();
    }
  }

  /// Called under the distributed lock, so in the order of the grants. Whether to ask again.
  bool note(const Turn& turn) {
    progress_.advance();
    const std::lock_guard guard(mutex_);
    log_.turns.push_back(turn);
    return static_cast<int>(log_.turns.size()) < log_.contended_turns;
  }

  const RaceSpec spec_;
  const std::vector<std::shared_ptr<zkrecipes::Connection>>& connections_;
  Progress& progress_;
  zkrecipes::LockOptions options_;
  Clock::time_point opened_;

  std::mutex mutex_;
  RaceLog log_;  // guarded by mutex_ while the contenders run
};

}  // namespace

RaceLog run_race(const RaceSpec& spec, const std::vector<std::shared_ptr<zkrecipes::Connection>>& connections,
                 Progress& progress) {
  progress.describe(title_of(spec.lock) + (", " + std::to_string(spec.contenders)) + " contenders");
  if (spec.lock == LockKind::simple) return Race<zkrecipes::SimpleLock>(spec, connections, progress).run();
  return Race<zkrecipes::FairMutex>(spec, connections, progress).run();
}

}  // namespace herd_effect
