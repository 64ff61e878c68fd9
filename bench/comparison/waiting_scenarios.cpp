// SPDX-License-Identifier: Apache-2.0
#include "bench/comparison/waiting_scenarios.h"

#include <algorithm>
#include <functional>
#include <list>
#include <random>
#include <thread>
#include <utility>

#include "bench/comparison/locks/polling.h"

namespace comparison {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kWakeUps = 15;
constexpr int kRounds = 3;
constexpr int kWaiters = 4;
constexpr std::chrono::milliseconds kUntilItWaits{150};
constexpr std::chrono::milliseconds kLookInterval{5};
constexpr std::chrono::seconds kCountingTime{3};

void note_token(const Reply& granted, Waiting& waiting) {
  if (granted.detail != "-") waiting.tokens.push_back(std::stoll(granted.detail));
}

/// Two contenders hand the lock to each other.
void measure_wake_ups(const Trial& trial, Waiting& waiting) {
  Contender one(trial.contender_with_time("waiting"));
  Contender other(trial.contender_with_time("waiting"));
  Contender* holder = &one;
  Contender* waiter = &other;
  note_token(holder->ask("acquire", "granted"), waiting);
  // At any moment between two questions of one who polls.
  std::minstd_rand random(std::random_device{}());
  std::uniform_real_distribution<double> phase(0, 1);
  for (int i = 0; i < kWakeUps; ++i) {
    waiter->send("acquire");
    std::this_thread::sleep_for(kUntilItWaits + kPollInterval * phase(random));
    const Reply released = holder->ask("release", "released");
    const Reply granted = waiter->await("granted");
    note_token(granted, waiting);
    waiting.wake_ups.emplace_back(granted.at - released.at);
    std::swap(holder, waiter);
  }
  holder->ask("release", "released");
}

/// Returns when it has asked, and the servers have had the time to put it into a queue, if they have one.
void queue_up(Contender& waiter) {
  const auto asked = [&] { return waiter.ask("requests", "requests").detail; };
  const std::string before = asked();
  waiter.send("turn");
  while (before != "-" && asked() == before) std::this_thread::sleep_for(kLookInterval);
  std::this_thread::sleep_for(kUntilItWaits);
}

/// Some queue up one after the other behind a holder; each holds for a moment.
void observe_order(const Trial& trial, Waiting& waiting) {
  Contender holder(trial.contender_with_time("waiting"));
  std::list<Contender> waiters;
  for (int i = 0; i < kWaiters; ++i) {
    waiters.emplace_back(trial.contender_with_time("waiting"));
    note_token(waiters.back().ask("turn", "granted"), waiting);  // leases and connections are made before it counts
    waiters.back().await("released");
  }
  for (int round = 0; round < kRounds; ++round) {
    note_token(holder.ask("acquire", "granted"), waiting);
    for (Contender& waiter : waiters) queue_up(waiter);
    holder.ask("release", "released");
    std::vector<std::pair<Reply, int>> served;
    int number = 0;
    for (Contender& waiter : waiters) {
      served.emplace_back(waiter.await("granted"), number++);
      waiter.await("released");
    }
    std::sort(served.begin(), served.end(), [](const auto& a, const auto& b) { return a.first.at < b.first.at; });
    waiting.rounds.emplace_back();
    for (const auto& [granted, who] : served) {
      note_token(granted, waiting);
      waiting.rounds.back().push_back(who);
    }
  }
}

/// The growth of each count per second, from now on.
std::vector<double> rates(const std::vector<std::function<long()>>& counts) {
  const auto begin = Clock::now();
  std::vector<double> growth;
  growth.reserve(counts.size());
  for (const auto& count : counts) growth.push_back(static_cast<double>(-count()));
  std::this_thread::sleep_for(kCountingTime);
  const std::chrono::duration<double> seconds = Clock::now() - begin;
  for (std::size_t i = 0; i < counts.size(); ++i)
    growth[i] = (growth[i] + static_cast<double>(counts[i]())) / seconds.count();
  return growth;
}

std::function<long()> counted_by(Contender& contender) {
  return [&contender] { return std::stol(contender.ask("requests", "requests").detail); };
}

/// As counted by holder and waiter; or by the servers, first with the holder alone, then with both.
void count_requests(const Trial& trial, Waiting& waiting) {
  Contender holder(trial.contender_with_time("requests"));
  holder.ask("acquire", "granted");
  const bool servers_count = trial.service.requests_received().has_value();
  const std::vector<std::function<long()>> servers{[&] { return trial.service.requests_received().value_or(0); }};
  if (servers_count) waiting.requests_per_second_holding = rates(servers).front();
  Contender waiter(trial.contender_with_time("requests"));
  waiter.send("acquire");
  std::this_thread::sleep_for(kUntilItWaits);
  if (servers_count) {
    waiting.requests_per_second = rates(servers).front() - waiting.requests_per_second_holding;
  } else if (waiter.ask("requests", "requests").detail != "-") {
    const auto both = rates({counted_by(holder), counted_by(waiter)});
    waiting.requests_per_second_holding = both[0];
    waiting.requests_per_second = both[1];
  }
}

}  // namespace

Waiting watch_waiting(const Trial& trial) {
  Waiting waiting;
  measure_wake_ups(trial, waiting);
  observe_order(trial, waiting);
  count_requests(trial, waiting);
  return waiting;
}

}  // namespace comparison
