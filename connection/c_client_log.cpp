// SPDX-License-Identifier: Apache-2.0
#include "connection/c_client_log.h"

#include <array>
#include <atomic>
#include <string_view>
#include <utility>

#include "connection/lease_clock.h"
#include "connection/log.h"

namespace zkrecipes::detail {

namespace {

// During an outage the C client says the same thing many times a second.
constexpr std::chrono::seconds kPause{5};

/// A function of the C client's, and what is behind it. Without locks, which the child of a fork might find locked.
struct Slot {
  std::atomic<const CClientLog::Sink*> sink{nullptr};
  std::atomic<LeaseClock::duration> next{LeaseClock::duration::min()};  // when the next line may pass

  bool may_pass() {
    const LeaseClock::duration now = LeaseClock::now().time_since_epoch();
    LeaseClock::duration due = next.load();
    return now >= due && next.compare_exchange_strong(due, now + kPause);
  }
};

std::array<Slot, CClientLog::kMost> slots;
Slot shared_slot;

constexpr std::string_view kError = ":ZOO_ERROR@";
constexpr std::string_view kAnyLevel = ":ZOO_";

/// A line reads "<time>:<process>(<thread>):ZOO_ERROR@<function>@<line>: <text>". The log that takes it writes a time
/// of its own.
std::string text_of(std::string_view line) {
  const std::size_t level = line.find(kAnyLevel);
  const std::size_t end = level == std::string_view::npos ? level : line.find(": ", level);
  std::string text(end == std::string_view::npos ? line : line.substr(end + 2));
  remove_end(text);
  return text;
}

void take_line(Slot& slot, const char* message) {
  // The level is only in the text.
  const std::string_view line = message;
  const bool passes = line.find(kError) != std::string_view::npos && slot.may_pass();
  if (!passes && !process_log().shows_details()) return;
  const std::string text = text_of(line);
  const CClientLog::Sink* const sink = slot.sink.load();
  if (passes && sink == nullptr) return process_log().warning(CClientLog::kSays + text);
  // What is wrong, too: the sink makes a part of another line of it, and not of each.
  process_log().detail(CClientLog::kSays + text);
  if (passes) (*sink)(text);
}

template <std::size_t number>
void take_line_of(const char* message) {
  take_line(slots[number], message);
}
void take_line_of_any(const char* message) {
  take_line(shared_slot, message);
}

template <std::size_t... numbers>
constexpr std::array<CClientLog::Callback, sizeof...(numbers)> make_callbacks(std::index_sequence<numbers...>) {
  return {&take_line_of<numbers>...};
}
constexpr auto kCallbacks = make_callbacks(std::make_index_sequence<CClientLog::kMost>());

}  // namespace

CClientLog::CClientLog(Sink sink) : sink_(std::move(sink)), callback_(&take_line_of_any) {
  if (!sink_) return;
  for (int slot = 0; slot < kMost; ++slot) {
    const Sink* none = nullptr;
    if (!slots[static_cast<std::size_t>(slot)].sink.compare_exchange_strong(none, &sink_)) continue;
    slots[static_cast<std::size_t>(slot)].next.store(LeaseClock::duration::min());
    slot_ = slot;
    callback_ = kCallbacks[static_cast<std::size_t>(slot)];
    return;
  }
}

CClientLog::~CClientLog() {
  if (slot_ >= 0) slots[static_cast<std::size_t>(slot_)].sink.store(nullptr);
}

}  // namespace zkrecipes::detail
