// SPDX-License-Identifier: Apache-2.0
#include "tests/interop/worker_process.h"

#include <algorithm>
#include <csignal>
#include <optional>
#include <stdexcept>

#include "tests/support/history.h"

namespace zkrecipes::testing {

namespace {

using Clock = std::chrono::steady_clock;

bool begins_with(const std::string& line, const std::string& beginning) {
  return line.compare(0, beginning.size(), beginning) == 0;
}

std::chrono::milliseconds until(Clock::time_point deadline) {
  return std::max(std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()),
                  std::chrono::milliseconds::zero());
}

testkit::ChildOptions killed_at_the_end() {
  testkit::ChildOptions options;
  options.end_signal = SIGKILL;
  return options;
}

}  // namespace

WorkerProcess::WorkerProcess(const std::vector<std::string>& command) : process_(command, killed_at_the_end()) {}

std::string WorkerProcess::expect(const std::string& beginning, std::chrono::milliseconds limit) {
  const auto deadline = Clock::now() + limit;
  for (;;) {
    const auto found = std::find_if(lines_.begin(), lines_.end(), [&](const std::string& line) {
      return begins_with(line, beginning) || begins_with(line, "error");
    });
    if (found != lines_.end()) {
      std::string line = *found;
      lines_.erase(found);
      if (!begins_with(line, beginning)) throw std::runtime_error("instead of '" + beginning + "': " + line);
      return line;
    }
    if (!process_.wait_for_line(until(deadline)))
      throw std::runtime_error("the process does not say '" + beginning + "'");
    std::optional<std::string> line = process_.read_line(std::chrono::milliseconds(0));
    if (!line) throw std::runtime_error("the process ended before it said '" + beginning + "'");
    lines_.push_back(*std::move(line));
  }
}

bool WorkerProcess::has_said(const std::string& beginning) {
  while (process_.wait_for_line(std::chrono::milliseconds(0))) {
    std::optional<std::string> line = process_.read_line(std::chrono::milliseconds(0));
    if (!line) break;
    lines_.push_back(*std::move(line));
  }
  return std::any_of(lines_.begin(), lines_.end(),
                     [&](const std::string& line) { return begins_with(line, beginning); });
}

std::int64_t WorkerProcess::kill() {
  process_.kill();
  return history_time();
}

bool WorkerProcess::finish(std::chrono::milliseconds limit) {
  const auto deadline = Clock::now() + limit;
  process_.close_input();
  try {
    // Read the rest of its output, or it might block on writing it.
    while (process_.read_line(until(deadline))) {
    }
    return process_.wait(until(deadline)) == 0;
  } catch (const std::runtime_error&) {
    process_.kill();
    return false;
  }
}

}  // namespace zkrecipes::testing
