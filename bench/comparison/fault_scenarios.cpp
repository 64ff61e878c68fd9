// SPDX-License-Identifier: Apache-2.0
#include "bench/comparison/fault_scenarios.h"

#include <memory>
#include <stdexcept>
#include <thread>

#include "examples/support/store.h"

namespace comparison {
namespace {

using Clock = std::chrono::steady_clock;
using testkit::ChildProcess;

constexpr std::chrono::milliseconds kUntilItWaits{150};
constexpr std::chrono::milliseconds kLookInterval{20};
constexpr std::chrono::seconds kPatience{30};
constexpr int kAmountOfFirst = 1;
constexpr int kAmountOfSecond = 10;

/// How long a lock is watched that may never be free.
std::chrono::milliseconds long_enough(const Trial& trial) {
  return 3 * trial.lease;
}

/// Servers that are back soon must not be taken for a lease that ran out: it is longer than their absence, and still
/// shorter than the time that the lock is watched.
ContenderSpec patient_contender(const Trial& trial) {
  ContenderSpec spec = trial.contender_with_time("failure");
  if (!trial.design.fixed_lease) spec.lease = 5 * trial.lease / 2;
  return spec;
}

/// False if the store refuses.
bool write(Contender& contender, int value) {
  return contender.ask("write " + std::to_string(value), "wrote").detail == "ok";
}

/// For one that holds the lock.
void update(Contender& contender, int amount) {
  const int value = std::stoi(contender.ask("read", "value").detail);
  if (!write(contender, value + amount)) throw std::runtime_error("the store refuses the newest holder");
  contender.ask("release", "released");
}

}  // namespace

Death kill_holder(const Trial& trial) {
  Contender first(trial.contender("death"));
  Contender second(trial.contender("death"));
  first.ask("acquire", "granted");
  second.send("acquire");
  std::this_thread::sleep_for(kUntilItWaits);
  const auto killed = Clock::now();
  first.kill();
  Death death;
  death.watched = long_enough(trial);
  if (const auto granted = second.await("granted", long_enough(trial))) death.freed_after = granted->at - killed;
  return death;
}

Pause pause_holder(const Trial& trial) {
  ChildProcess store({"/proc/self/exe", "--role", trial.design.fenced ? "store fenced" : "store open"});
  const std::string port = store.read_line(kPatience).value_or("");
  const examples::StoreClient reader(port);
  const int expected = reader.read() + kAmountOfFirst + kAmountOfSecond;
  Contender first(trial.contender("pause", port));
  Contender second(trial.contender("pause", port));

  first.ask("acquire", "granted");
  const int seen = std::stoi(first.ask("read", "value").detail);
  first.stop();
  first.send("write " + std::to_string(seen + kAmountOfFirst));  // what it does when it wakes

  Pause pause;
  pause.watched = long_enough(trial);
  second.send("acquire");
  const auto overtaken = second.await("granted", long_enough(trial));
  if (overtaken) update(second, kAmountOfSecond);
  first.resume();
  const Reply late = first.await("wrote");
  pause.two_holders = overtaken && overtaken->at < late.at;
  pause.refused = late.detail == "refused";
  first.ask("release", "released");
  if (!overtaken) {
    second.await("granted");
    update(second, kAmountOfSecond);
  }
  if (pause.refused) {
    first.ask("acquire", "granted");
    update(first, kAmountOfFirst);
  }
  pause.lost = reader.read() != expected;
  return pause;
}

Failure fail_servers(const Trial& trial) {
  Failure failure;
  failure.tried = trial.service.prepare_failure();
  if (!failure.tried) return failure;
  const ContenderSpec before = patient_contender(trial);
  Contender first(before);
  auto second = std::make_unique<Contender>(before);
  first.ask("acquire", "granted");
  second->send("acquire");
  std::this_thread::sleep_for(kUntilItWaits);

  const auto failed = Clock::now();
  failure.what = trial.service.fail();
  const ContenderSpec after = patient_contender(trial);
  if (after.endpoints != before.endpoints) {  // as a client that asks for the current servers
    second = std::make_unique<Contender>(after);
    second->send("acquire");
  }
  const auto deadline = Clock::now() + long_enough(trial);
  do {
    failure.first_believes = first.believes_to_hold();
    if (const auto granted = second->await("granted", kLookInterval)) {
      failure.next_after = granted->at - failed;
      failure.first_believes = first.believes_to_hold();
      break;
    }
  } while (Clock::now() < deadline);
  return failure;
}

}  // namespace comparison
