// SPDX-License-Identifier: Apache-2.0
#include "tests/interop/fleet.h"

#include <cstdint>
#include <stdexcept>
#include <utility>

namespace zkrecipes::testing {

const char* to_string(Language language) noexcept {
  switch (language) {
    case Language::cpp:
      return "cpp";
    case Language::java:
      return "java";
    case Language::python:
      return "python";
  }
  return "";
}

Fleet::Fleet(std::string servers, std::chrono::milliseconds session_timeout)
    : servers_(std::move(servers)), session_timeout_(session_timeout) {}

Fleet::~Fleet() = default;

WorkerProcess& Fleet::start(Language language) {
  const std::string name = std::string(to_string(language)) + std::to_string(++started_[language]);
  std::vector<std::string> command;
  switch (language) {
    case Language::cpp:
      command = {ZKRECIPES_CPP_WORKER};
      break;
    case Language::java:
      command = {ZKRECIPES_CURATOR_WORKER};
      break;
    case Language::python:
      command = {ZKRECIPES_PYTHON3, "-B", ZKRECIPES_KAZOO_WORKER};
      break;
  }
  for (const std::string& word : {servers_, scratch_.file(name), name, std::to_string(session_timeout_.count())})
    command.push_back(word);
  members_.push_back({name, std::make_unique<WorkerProcess>(command)});
  return *members_.back().process;
}

WorkerProcess& Fleet::start_ready(Language language) {
  WorkerProcess& worker = start(language);
  await_ready(worker);
  return worker;
}

std::size_t Fleet::index_of(const WorkerProcess& worker) const {
  for (std::size_t i = 0; i < members_.size(); ++i)
    if (members_[i].process.get() == &worker) return i;
  throw std::invalid_argument("not a member of this fleet");
}

void Fleet::kill(WorkerProcess& worker) {
  const std::size_t index = index_of(worker);
  const std::int64_t time = worker.kill();
  const std::string name = members_[index].name;
  HistoryWriter(scratch_.file(name), name).append(0, HistoryEvent::Kind::died, LockMode::exclusive, time);
  members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(index));
}

bool Fleet::finish(WorkerProcess& worker) {
  const std::size_t index = index_of(worker);
  const bool well = worker.finish();
  members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(index));
  return well;
}

}  // namespace zkrecipes::testing
