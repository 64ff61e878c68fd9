// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/simulation/scheduler.h"

namespace zkrecipes::simulation {

/// What happened in a run, a line each, for a person to read. A run without a reader keeps no lines; it still has a
/// digest, which two runs of one seed must share.
class Trace {
 public:
  struct Line {
    Time time;
    std::uint32_t kind;
    std::uint64_t number;
    std::string text;
  };

  explicit Trace(Scheduler& scheduler) : scheduler_(scheduler) {}

  void keep_lines(bool keep) { keeping_ = keep; }
  bool keeps_lines() const { return keeping_; }

  /// `make_text` is called only when somebody reads the lines. `kind` and `number` go into the digest.
  template <class MakeText>
  void add(std::uint32_t kind, std::uint64_t number, const MakeText& make_text) {
    mix(static_cast<std::uint64_t>(scheduler_.now().count()));
    mix(kind);
    mix(number);
    if (keeping_) lines_.push_back({scheduler_.now(), kind, number, make_text()});
  }

  std::uint64_t digest() const { return digest_; }
  const std::vector<Line>& lines() const { return lines_; }

 private:
  void mix(std::uint64_t value) {
    digest_ = (digest_ ^ value) * 0x100000001b3ULL;
    digest_ ^= digest_ >> 29;
  }

  Scheduler& scheduler_;
  bool keeping_ = false;
  std::uint64_t digest_ = 0xcbf29ce484222325ULL;
  std::vector<Line> lines_;
};

}  // namespace zkrecipes::simulation
