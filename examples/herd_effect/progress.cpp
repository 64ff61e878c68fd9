// SPDX-License-Identifier: Apache-2.0
#include "examples/herd_effect/progress.h"

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <unistd.h>

namespace herd_effect {
namespace {

constexpr int kWidth = 40;

}  // namespace

Progress::Progress(int steps) : steps_(std::max(1, steps)), shown_(::isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  if (shown_) std::cerr << "\r\033[K" << std::flush;
}

void Progress::describe(const std::string& what) {
  const std::lock_guard guard(mutex_);
  what_ = what;
  drawn_percent_ = -1;
  draw();
}

void Progress::advance() {
  const std::lock_guard guard(mutex_);
  done_ = std::min(done_ + 1, steps_);
  draw();
}

void Progress::draw() {
  const int percent = 100 * done_ / steps_;
  if (!shown_ || percent == drawn_percent_) return;
  drawn_percent_ = percent;
  const auto filled = static_cast<std::size_t>(kWidth * percent / 100);
  std::cerr << "\r\033[K[" << std::string(filled, '#') << std::string(kWidth - filled, '.') << "] " << std::setw(3)
            << percent << " %  " << what_ << std::flush;
}

}  // namespace herd_effect
