// SPDX-License-Identifier: Apache-2.0
#include "examples/pause/timeline.h"

#include <chrono>
#include <iomanip>
#include <sstream>
#include <stdexcept>

namespace pause_example {
namespace {

std::string sentence(const Event& event) {
  switch (event.what) {
    case What::started:
      return "wants the lock";
    case What::granted:
      return "has the lock, token " + event.detail;
    case What::read:
      return "reads " + event.detail;
    case What::about_to_go_on:
      return "";
    case What::checked:
      return "checks is_valid(): true";
    case What::gave_up:
      return "checks is_valid(): false. Does not write, starts again";
    case What::wrote:
      return "WRITES " + event.detail;
    case What::refused:
      return "writes " + event.detail + ": REFUSED, starts again";
    case What::told:
      return "learns only on release that the lock was lost";
    case What::done:
      return "is done";
    case What::stopped:
      return "is stopped (SIGSTOP)";
    case What::woken:
      return "wakes (SIGCONT) and goes on where it was";
  }
  return "";
}

}  // namespace

std::string encode(const Event& event) {
  std::ostringstream line;
  line << std::fixed << std::setprecision(6) << event.at << ' ' << event.who << ' ' << static_cast<int>(event.what)
       << ' ' << event.detail;
  return line.str();
}

Event decode(const std::string& line) {
  std::istringstream words(line);
  Event event;
  int what = 0;
  if (!(words >> event.at >> event.who >> what) || what < 0 || what > static_cast<int>(What::woken))
    throw std::runtime_error("a writer said: " + line);
  event.what = static_cast<What>(what);
  words.get();
  std::getline(words, event.detail);
  return event;
}

Event now(char who, What what, const std::string& detail) {
  const std::chrono::duration<double> at = std::chrono::steady_clock::now().time_since_epoch();
  return {at.count(), who, what, detail};
}

std::string as_text(const std::vector<Event>& events) {
  std::ostringstream text;
  for (const Event& event : events) {
    const std::string what = sentence(event);
    if (what.empty()) continue;
    text << std::setw(7) << static_cast<long>((event.at - events.front().at) * 1000) << " ms  "
         << (event.who == 'A' ? "A " : "      B ") << what << '\n';
  }
  return text.str();
}

}  // namespace pause_example
