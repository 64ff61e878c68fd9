// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "connection/handle.h"
#include "tests/simulation/model/ensemble.h"

namespace zkrecipes::simulation {

/// A client process with one handle at a time, which remembers everything that is reported. For tests of the model.
class SimulatedClient {
 public:
  SimulatedClient(Scheduler& scheduler, Ensemble& ensemble, int number)
      : scheduler_(scheduler), ensemble_(ensemble), process(scheduler, number) {}

  void connect(int server, std::chrono::milliseconds timeout, std::optional<detail::SessionKey> session = {}) {
    detail::HandleSettings settings;
    settings.address = ensemble_.address(server);
    settings.session_timeout = timeout;
    settings.session = session;
    handle = ensemble_.connect(process, settings, log_);
  }
  bool wait_until_connected(Time patience = std::chrono::seconds(30)) {
    return wait([this] { return is_connected(); }, patience);
  }
  bool is_connected() const { return !log_->events.empty() && log_->events.back() == detail::SessionEvent::connected; }
  bool is_expired() const { return !log_->events.empty() && log_->events.back() == detail::SessionEvent::expired; }

  std::uint64_t send(const detail::Request& request) {
    const std::uint64_t number = handle->next_request();
    if (handle->issue(request, number) != detail::Status::ok) return 0;
    return number;
  }
  /// Null when none came in time.
  const detail::Reply* reply(std::uint64_t number, Time patience = std::chrono::seconds(30)) {
    wait([&] { return find(number) != nullptr; }, patience);
    return find(number);
  }
  detail::Status call(const detail::Request& request, Time patience = std::chrono::seconds(30)) {
    const detail::Reply* const answer = reply(send(request), patience);
    return answer == nullptr ? detail::Status::closed : answer->status;
  }
  const detail::Reply* find(std::uint64_t number) const {
    for (const auto& [of, answer] : log_->replies)
      if (of == number) return &answer;
    return nullptr;
  }
  const std::vector<detail::SessionEvent>& events() const { return log_->events; }
  const std::vector<std::pair<std::string, detail::WatchEvent>>& watch_events() const { return log_->watch_events; }

  template <class Condition>
  bool wait(const Condition& condition, Time patience = std::chrono::seconds(30)) {
    const Time end = scheduler_.now() + patience;
    while (!condition()) {
      if (scheduler_.now() > end || !scheduler_.step()) return false;
    }
    return true;
  }

 private:
  struct Log final : detail::HandleListener {
    void on_session_event(std::uint32_t /*handle*/, detail::SessionEvent event) override { events.push_back(event); }
    void on_reply(std::uint64_t request, detail::Reply answer, bool /*answered*/) override {
      replies.emplace_back(request, std::move(answer));
    }
    void on_watch_event(std::uint32_t /*handle*/, const std::string& path, detail::WatchEvent event) override {
      watch_events.emplace_back(path, event);
    }
    std::vector<detail::SessionEvent> events;
    std::vector<std::pair<std::uint64_t, detail::Reply>> replies;
    std::vector<std::pair<std::string, detail::WatchEvent>> watch_events;
  };

  Scheduler& scheduler_;
  Ensemble& ensemble_;
  const std::shared_ptr<Log> log_ = std::make_shared<Log>();

 public:
  Process process;
  std::unique_ptr<detail::Handle> handle;
};

}  // namespace zkrecipes::simulation
