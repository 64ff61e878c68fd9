// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <string>

namespace herd_effect {

/// A bar on standard error, if that is a terminal. Thread-safe.
class Progress {
 public:
  explicit Progress(int steps);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void describe(const std::string& what);  ///< what is going on now
  void advance();

 private:
  void draw();

  const int steps_;
  const bool shown_;

  std::mutex mutex_;
  // guarded by mutex_
  std::string what_;
  int done_ = 0;
  int drawn_percent_ = -1;
};

}  // namespace herd_effect
