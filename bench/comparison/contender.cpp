// SPDX-License-Identifier: Apache-2.0
#include "bench/comparison/contender.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace comparison {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience{30};

Reply parse(const std::string& line) {
  std::istringstream words(line);
  Reply reply;
  std::chrono::nanoseconds::rep at = 0;
  if (!(words >> reply.word >> at)) throw std::runtime_error("a contender said: " + line);
  words >> reply.detail;
  reply.at = Clock::time_point(std::chrono::nanoseconds(at));
  return reply;
}

}  // namespace

Contender::Contender(const ContenderSpec& spec) : process_({"/proc/self/exe", "--role", "contender " + spec.encode()}) {
  await("ready");
}

void Contender::send(const std::string& order) {
  process_.write(order + "\n");
}

std::optional<Reply> Contender::await(const std::string& word, std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  for (;;) {
    const auto found = std::find_if(unread_.begin(), unread_.end(), [&](const Reply& r) { return r.word == word; });
    if (found != unread_.end()) {
      Reply reply = std::move(*found);
      unread_.erase(found);
      return reply;
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    if (!process_.wait_for_line(left)) return std::nullopt;
    const auto line = process_.read_line(left);
    if (!line) throw std::runtime_error("a contender has ended too early");
    unread_.push_back(parse(*line));
  }
}

Reply Contender::await(const std::string& word) {
  auto reply = await(word, kPatience);
  if (!reply) throw std::runtime_error("a contender was never " + word);
  return *reply;
}

Reply Contender::ask(const std::string& order, const std::string& word) {
  send(order);
  return await(word);
}

}  // namespace comparison
