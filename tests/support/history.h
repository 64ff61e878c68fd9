// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "zkrecipes/contenders.h"

namespace zkrecipes::testing {

/// One event of a process with a lock, as one line of text:
///
///     <process> <operation> <event> <mode> <time> <token>
///
/// The process is any word; the operation is a number of the process's own, one per acquire. The time is the
/// machine's monotonic clock in nanoseconds, which all processes (also Java's and Python's) share. The token is a
/// zxid, or "-" where the event has none. Lines of several processes may be in any order; those of one process are
/// in the order in which it wrote them. Empty lines and lines that begin with '#' are skipped.
///
///     invoke   the acquire was called
///     ok       it held at this time, by its own knowledge: it took the time first and then saw that the hold was
///              valid. A second ok with mode "read" in a write hold is its downgrade.
///     fail     the acquire ended without the lock
///     unknown  the process cannot tell how the acquire ended
///     valid    its hold was good up to this time at least; the time may be in the future
///     release  it still held at this time, and began to release after it
///     lost     its validity ended at this time, which may be before the lines above it were written
///     died     the process ended no later than this, and its holds with it; operation 0, mode "-"
///     write    the guarded resource accepted a write with this token; written by the resource
struct HistoryEvent {
  enum class Kind { invoke, ok, fail, unknown, valid, release, lost, died, write };

  std::string process;
  std::int64_t operation = 0;
  Kind kind = Kind::invoke;
  LockMode mode = LockMode::exclusive;
  std::int64_t time = 0;
  std::optional<std::int64_t> token;
};

using History = std::vector<HistoryEvent>;

const char* to_string(HistoryEvent::Kind kind) noexcept;
/// As a line of a history, without its end.
std::string to_line(const HistoryEvent& event);
std::ostream& operator<<(std::ostream& out, const HistoryEvent& event);

/// Names the line and what is wrong with it.
class MalformedHistory : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws MalformedHistory.
History read_history(std::istream& in, const std::string& name = "history");
/// All files in a row. Throws MalformedHistory, also when one cannot be read.
History read_history_files(const std::vector<std::string>& files);

/// Now, as histories count it.
std::int64_t history_time();
std::int64_t history_time(std::chrono::steady_clock::time_point time);

/// Appends to a file, a whole line at a time, so that several threads and processes may share it and a process that
/// is killed leaves no half line. Throws std::system_error.
class HistoryWriter {
 public:
  HistoryWriter(const std::string& file, std::string process);
  ~HistoryWriter();
  HistoryWriter(const HistoryWriter&) = delete;
  HistoryWriter& operator=(const HistoryWriter&) = delete;

  void append(std::int64_t operation, HistoryEvent::Kind kind, LockMode mode, std::int64_t time,
              std::optional<std::int64_t> token = {}) const;

 private:
  // constant after construction
  int file_;
  std::string process_;
};

}  // namespace zkrecipes::testing
