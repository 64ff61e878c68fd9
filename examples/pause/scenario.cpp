// SPDX-License-Identifier: Apache-2.0
#include "examples/pause/scenario.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "examples/pause/writer.h"
#include "examples/support/store.h"
#include "testkit/child_process.h"

namespace pause_example {
namespace {

using testkit::ChildProcess;

constexpr int kAmountOfA = 1;
constexpr int kAmountOfB = 10;
constexpr std::chrono::seconds kPatience{60};
constexpr std::chrono::milliseconds kOverslept{150};  // A sleeps on after B is done: visible on the timeline

std::vector<std::string> command(const std::string& role, const std::string& servers) {
  return {"/proc/self/exe", "--servers", servers, "--timeout", "60", "--role", role};
}

/// Takes a writer's reports up to and with the one that is awaited.
void await(ChildProcess& writer, What awaited, std::vector<Event>& events) {
  for (;;) {
    const auto line = writer.read_line(kPatience);
    if (!line) throw std::runtime_error("a writer has ended too early");
    events.push_back(decode(*line));
    if (events.back().what == awaited) return;
  }
}

}  // namespace

const std::vector<Guard>& guards() {
  static const std::vector<Guard> all{
      {"no check", false, false, "write"},
      {"is_valid() checked, pause before the check", true, false, "check"},
      {"is_valid() checked, pause after the check", true, false, "write"},
      {"token checked by the store", true, true, "write"},
  };
  return all;
}

std::string Outcome::verdict() const {
  const std::string numbers = "the number is " + std::to_string(value) + ", as it must be";
  if (lost_update())
    return "LOST: A has overwritten what B wrote; the number is " + std::to_string(value) + ", not " +
           std::to_string(expected);
  if (refused) return "REFUSED: the store had seen B's newer token; A did its update again, " + numbers;
  if (gave_up) return "NOT WRITTEN: A noticed in time and did its update again, " + numbers;
  return numbers;
}

Outcome run_scenario(const Guard& guard, const std::string& servers, int session_timeout, const std::string& path) {
  Outcome outcome;
  outcome.guard = &guard;
  ChildProcess store(command(guard.fenced ? "store fenced" : "store open", servers));
  WriterSpec spec;
  spec.name = 'A';
  spec.amount = kAmountOfA;
  spec.checks_validity = guard.checks_validity;
  spec.waits_before = guard.paused_before;
  spec.session_timeout = session_timeout;
  spec.path = path;
  spec.store_port = store.read_line(kPatience).value_or("");
  const examples::StoreClient client(spec.store_port);
  outcome.expected = client.read() + kAmountOfA + kAmountOfB;

  ChildProcess a(command("writer " + spec.encode(), servers));
  await(a, What::about_to_go_on, outcome.events);
  a.pause();
  outcome.events.push_back(now('A', What::stopped));
  a.write("go on\n");  // read when it wakes

  spec.name = 'B';
  spec.amount = kAmountOfB;
  spec.waits_before = "nothing";
  ChildProcess b(command("writer " + spec.encode(), servers));
  await(b, What::done, outcome.events);
  std::this_thread::sleep_for(kOverslept);

  outcome.events.push_back(now('A', What::woken));
  a.resume();
  await(a, What::done, outcome.events);
  outcome.value = client.read();
  for (const Event& event : outcome.events) {
    outcome.refused |= event.what == What::refused;
    outcome.gave_up |= event.what == What::gave_up;
  }
  std::stable_sort(outcome.events.begin(), outcome.events.end(),
                   [](const Event& x, const Event& y) { return x.at < y.at; });
  return outcome;
}

}  // namespace pause_example
