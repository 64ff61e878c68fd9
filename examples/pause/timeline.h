// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace pause_example {

enum class What {
  started,
  granted,
  read,
  about_to_go_on,
  checked,
  gave_up,
  wrote,
  refused,
  told,
  done,
  stopped,
  woken
};

struct Event {
  double at = 0;  ///< seconds, on the clock that all processes of a machine share
  char who = '?';
  What what = What::started;
  std::string detail;
};

/// One line of text, as the writers report to their parent, and back.
std::string encode(const Event& event);
Event decode(const std::string& line);

/// Of a program that reports on itself.
Event now(char who, What what, const std::string& detail = {});

/// For people: one line per event, times from the first one.
std::string as_text(const std::vector<Event>& events);

}  // namespace pause_example
