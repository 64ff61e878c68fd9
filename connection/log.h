// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "zkrecipes/log.h"

namespace zkrecipes::detail {

/// Texts of others may end with a full stop or a line break; lines have neither, nor do texts inside of them.
void remove_end(std::string& line);

/// Where the lines of a connection go: to the program's sink, else to glog. Thread-safe. Call it without a lock held: a
/// sink may call back into the library.
class Log {
 public:
  explicit Log(LogSink sink) : sink_(std::move(sink)) {}

  // Sentences, with neither the library's name in front nor a full stop behind.
  void info(const std::string& line) const noexcept { write(LogSeverity::info, line); }
  void warning(const std::string& line) const noexcept { write(LogSeverity::warning, line); }
  void error(const std::string& line) const noexcept { write(LogSeverity::error, line); }
  void write(LogSeverity severity, const std::string& line) const noexcept;

  /// For people who look for a fault in the library: shown by glog with -v=1, and never passed to a sink.
  bool shows_details() const noexcept;
  void detail(const std::string& line) const noexcept;

 private:
  const LogSink sink_;
};

using LogPtr = std::shared_ptr<const Log>;

/// For lines that belong to no connection, or to one that cannot be known: glog.
const Log& process_log() noexcept;

}  // namespace zkrecipes::detail
